"""A runner for Django's own tests: it writes what became of each test, as the plugin of pytest does."""

import unittest

from django.test.runner import DiscoverRunner
from sqpyte_witness import WORST, witness, write


class Result(unittest.TextTestResult):
    """Writes a test's outcome, the worst of its parts', as soon as it has ended."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self._outcome = None        # of the test that runs now

    def _have(self, test, outcome):
        if self._outcome is None:       # setUpClass, setUpModule
            write(test=test.id(), outcome=outcome)
        else:
            self._outcome = max(self._outcome, outcome, key=WORST.index)

    def startTest(self, test):
        super().startTest(test)
        self._outcome = 'passed'

    def stopTest(self, test):
        super().stopTest(test)
        write(test=test.id(), outcome=self._outcome)
        self._outcome = None

    def addError(self, test, err):
        super().addError(test, err)
        self._have(test, 'failed')

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._have(test, 'failed')

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._have(test, 'skipped')

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self._have(test, 'xfailed')

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self._have(test, 'xpassed')

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._have(test, 'failed')


class Runner(DiscoverRunner):
    """Django's, with our Result."""

    def get_resultclass(self):
        return Result

    def run_tests(self, test_labels, **kwargs):
        failures = super().run_tests(test_labels, **kwargs)
        write(witness=witness(), exit=failures)
        return failures
