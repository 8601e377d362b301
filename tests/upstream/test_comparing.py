"""What is read of a run, and what counts as different from stock."""

import os

from tests.upstream import campaign, comparing, events, meant, running


def run_of(cases, **ends):
    return {'seconds': 1.0, 'cases': cases,
            'ends': dict({running.END: 'ok', running.MEMORY: 'ok', running.FILES: 'ok'}, **ends)}


def differing(stock, ours):
    return [(one.case, one.stock, one.ours)
            for one in comparing.differences('test/x.test', run_of(stock), run_of(ours))]


def test_reports_are_read_among_other_output():
    log = (b'noise\x1ebegin\tnot\t\n'
           b'\n\x1ebegin\ta-1\t\n\nwarning\n\n\x1eok\ta-1\t\n'
           b'\n\x1ebegin\ta-1\t\n\n\x1ewrong\ta-1\ttwo\\nlines\\tand \\\\ in /tmp/here\n'
           b'\n\x1ebegin\ta-2\t\n\n\x1eerror\ta-2\tno such table\n'
           b'\n\x1ebegin\ta-3\t\nSegmentation fault')
    assert events.outcomes(log, [('/tmp/here', 'WORK')]) == {
        'a-1': 'ok', 'a-1#2': 'got two\nlines\tand \\ in WORK', 'a-2': 'error no such table',
        'a-3': events.BEGUN}
    assert 'warning' in events.rest(log) and 'no such table' not in events.rest(log)


def test_long_results_are_compared_to_their_end():
    one, other = 'x' * 5000 + 'a', 'x' * 5000 + 'b'
    assert events.shorten(one) != events.shorten(other)
    assert len(events.shorten(one)) < 2200


def test_the_same_failure_is_no_difference_and_another_is():
    assert differing({'a': 'got 1', 'b': 'ok'}, {'a': 'got 1', 'b': 'ok'}) == []
    assert differing({'a': 'got 1', 'b': 'ok'}, {'a': 'got 2', 'b': 'ok'}) == [('a', 'got 1', 'got 2')]
    assert differing({'a': 'ok'}, {'a': events.BEGUN}) == [('a', 'ok', events.BEGUN)]


def test_a_case_that_only_one_has_is_a_difference():
    assert differing({'a': 'ok', 'b-1': 'ok'}, {'a': 'ok'}) == [('b-1', 'ok', comparing.MISSING)]
    assert differing({'a': 'ok'}, {'a': 'ok', 'b-1': 'ok'}) == [('b-1', comparing.MISSING, 'ok')]


def test_a_time_in_a_name_is_none_of_the_name():
    case = 'walsetlk_recover-1.3.(%s)'
    assert differing({case % 501702: 'ok'}, {case % 505684: 'ok'}) == []
    assert differing({case % 501702: 'ok'}, {case % 2: 'got 0'}) == [(case[:-4] + '(time)', 'ok', 'got 0')]
    assert differing({case % 1: 'ok', case % 2: 'ok'}, {case % 3: 'got 0', case % 4: 'ok'}) == [
        (case[:-4] + '(time)', 'ok', 'got 0')]
    assert differing({'x-1.(1)': 'ok'}, {'x-1.(2)': 'ok'}) != []      # a number that is no time
    assert differing({'avtrans-9.32.1-17904': 'ok'}, {'avtrans-9.32.1-16000': 'ok'}) == []


def test_a_case_that_was_drawn_need_not_be_in_both():
    assert differing({'fts5bigtok-full-1.a': 'ok'}, {'fts5bigtok-full-1.c#2': 'ok'}) == []
    assert len(differing({'fts5bigtok-full-1.a': 'ok'}, {'fts5bigtok-full-1.c#2': 'got 1'})) == 1


def test_a_step_of_injected_faults_that_only_one_has_is_none_if_it_is_right():
    stock, ours = {'f-1-oom-transient.1': 'ok'}, {'f-1-oom-transient.1': 'ok', 'f-1-oom-transient.2': 'ok'}
    assert differing(stock, ours) == [] and differing(ours, stock) == []
    assert comparing.step_of_faults('test/ioerr2.test', 'ioerr2-4.2.248.cksum')
    assert comparing.step_of_faults('test/malloc3.test', 'malloc3-(integrity 5).pc=8.iFail=50-sql')
    assert not comparing.step_of_faults('test/select1.test', 'select1-4.2.248.cksum')
    ours['f-1-oom-transient.3'] = 'got 1'
    assert differing(stock, ours) == [('f-1-oom-transient.3', comparing.MISSING, 'got 1')]


def test_how_the_process_ended_is_compared():
    found = comparing.differences('f', run_of({}), run_of({}, **{running.END: 'signal SIGSEGV'}))
    assert [(one.case, one.ours) for one in found] == [(running.END, 'signal SIGSEGV')]


def test_what_stock_answers_in_two_ways_is_flaky():
    runs = [run_of({'a': 'ok', 'b': 'ok'}), run_of({'a': 'got 7', 'b': 'ok'})]
    found, flaky = comparing.judge('f', runs, run_of({'a': 'got 8', 'b': 'got 1'}))
    assert [one.case for one in found] == ['b'] and [one.case for one in flaky] == ['a']


ENTRIES = [meant.Meant('f', r'a-\d', 'always hot', 'a counter')]


def summary_of(ours, configuration, monkeypatch):
    monkeypatch.setattr(meant, 'MEANT', ENTRIES)
    summary = campaign.Summary()
    summary.add('f', configuration, [run_of({'a-1': 'ok', 'b': 'ok'})], run_of(ours))
    return summary


def test_a_meant_difference_is_counted_and_explained(monkeypatch):
    summary = summary_of({'a-1': 'got 1', 'b': 'ok'}, 'hot', monkeypatch)
    assert summary.fine() and len(summary.meant) == 1
    assert not summary_of({'a-1': 'got 1', 'b': 'ok'}, 'c', monkeypatch).fine()
    assert not summary_of({'a-1': 'got 1', 'b': 'got 1'}, 'hot', monkeypatch).fine()


def test_a_meant_difference_that_is_gone_fails_the_run(monkeypatch):
    summary = summary_of({'a-1': 'ok', 'b': 'ok'}, 'hot', monkeypatch)
    assert not summary.fine() and summary.gone == ENTRIES
    assert summary_of({'a-1': 'ok', 'b': 'ok'}, 'c', monkeypatch).fine()


def test_what_the_clock_decides_need_not_occur(monkeypatch):
    monkeypatch.setattr(meant, 'MEANT', [meant.Meant('f', 'b', 'hot', 'less than 1 ms', steady=False)])
    for answer, count in (('ok', 0), ('got 0', 1)):
        summary = campaign.Summary()
        summary.add('f', 'hot', [run_of({'b': 'ok'})], run_of({'b': answer}))
        assert summary.fine() and len(summary.meant) == count


def test_results_are_found_again_and_old_ones_dropped(tmp_path):
    for number in range(6):
        results = running.Results(str(tmp_path), 'hot', 'key%d' % number)
        results.put('test/x.test', {'seconds': number})
        os.utime(results.folder, (number, number))
    running.Results(str(tmp_path), 'hot-1', 'key0').put('test/x.test', {'seconds': 7})
    running.drop_old(str(tmp_path), 2)
    assert sorted(os.listdir(str(tmp_path))) == ['hot-1-key0', 'hot-key4', 'hot-key5']
    assert results.get('test/x.test') == {'seconds': 5}
    results.forget('test/x.test')
    assert results.get('test/x.test') is None


def test_crashes_and_hangs_are_counted(monkeypatch):
    summary = campaign.Summary()
    summary.add('f', 'hot', [run_of({})], run_of({}, **{running.END: 'signal SIGABRT'}))
    summary.add('g', 'hot', [run_of({})], run_of({}, **{running.END: running.HANG}))
    assert summary.crashes == ['f'] and summary.hangs == ['g'] and not summary.fine()
