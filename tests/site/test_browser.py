"""The site in a browser, on a telephone and on a desk: nothing is cut off, every page is reached, search finds."""

import re

import pytest

pytest.importorskip('playwright', reason='in build/site-env: `make test-site`')

from tests.site.looking import SCROLLED, WIDE, Visit
from tools.site import pages

WIDTHS = (390, 1280)
NARROW = WIDTHS[0]
PAGES = [page.replace('.md', '.html') for page in pages.titles()]


@pytest.fixture(params=WIDTHS)
def visit(request, browser, address):
    """A Visit in a window of each width."""
    with Visit(browser, address, request.param) as visit:
        visit.width = request.param
        yield visit


@pytest.mark.parametrize('name', PAGES)
def test_a_page_fits_its_window_and_asks_for_nothing_else(visit, name):
    visit.open(name)
    assert visit.page.evaluate(WIDE) == []
    assert all(scrolls for _, scrolls in visit.page.evaluate(SCROLLED))
    assert visit.page.locator('article h1').inner_text().strip('¶')
    assert visit.wrong == []


def test_wide_code_and_tables_scroll_by_themselves(browser, address):
    with Visit(browser, address, NARROW) as visit:
        found = set()
        for name in ('index.html', 'environment.html', 'architecture.html'):
            visit.open(name)
            found |= {tuple(one) for one in visit.page.evaluate(SCROLLED)}
        assert found == {('CODE', True), ('DIV', True)}


def test_what_does_not_fit_is_found(browser, address):
    with Visit(browser, address, NARROW) as visit:
        visit.open('index.html')
        visit.page.evaluate('''() => {
            document.querySelector('article').insertAdjacentHTML('beforeend', '<p style="width: 900px">wide</p>' +
                '<img src="absent.png"><img src="http://127.0.0.1:9/a.png">');
            return Promise.all([...document.querySelectorAll('article img')].map(
                image => new Promise(done => image.addEventListener('error', done))));
        }''')
        assert visit.page.evaluate(WIDE)
        assert {said.partition(':')[0] for said in visit.wrong} >= {'404', 'another host', 'failed'}


def entries():
    """The navigation's entries: (title of the part or None, title, page) each."""
    for part in pages.NAVIGATION:
        for title, what in part.items():
            if isinstance(what, str):
                yield None, title, what
            else:
                for entry in what:
                    for inside, page in entry.items():
                        yield title, inside, page


def named(title):
    """What matches a title, and nothing longer, in a text with blanks around it."""
    return re.compile(r'^\s*%s\s*$' % re.escape(title))


def test_every_entry_of_the_navigation_is_reached(visit):
    for part, title, page in entries():
        visit.open('index.html' if part else '404.html')
        menu = visit.page.locator('.md-sidebar--primary nav').first
        if visit.width == NARROW:
            visit.page.locator('header label[for="__drawer"]').click()
            if part:
                menu.locator('label.md-nav__link', has_text=named(part)).click()
        menu.locator('a.md-nav__link:not([href^="#"])', has_text=named(title)).locator('visible=true').first.click()
        visit.page.wait_for_url('**/' + page.replace('.md', '.html'))
        visit.page.wait_for_load_state('networkidle')
        assert visit.page.locator('article h1').is_visible()
    assert visit.wrong == []


@pytest.mark.parametrize('word, expected', [('memoize', 'environment.html'), ('executemany', 'reference/rows.html'),
                                            ('two libraries', 'moving.html')])
def test_search_finds_a_word(visit, word, expected):
    visit.open('index.html')
    if visit.width == NARROW:
        visit.page.locator('header label[for="__search"]').first.click()
    visit.page.locator('input.md-search__input').click()
    visit.page.keyboard.type(word)
    found = visit.page.locator('.md-search-result__link[href*="%s"]' % expected).first
    found.wait_for()
    heights = visit.page.locator('.md-search-result__article').evaluate_all('all => all.map(one => one.offsetHeight)')
    assert heights and max(heights) < 200
    assert 'opcodes.html' not in visit.page.locator('.md-search-result__link').first.get_attribute('href')
    found.click()
    visit.page.wait_for_url('**/%s*' % expected)
    assert word.split()[0] in visit.page.locator('article').inner_text().lower()
    assert visit.wrong == []


def test_colours_follow_the_system_and_are_chosen(browser, address):
    def scheme(visit):
        return visit.page.locator('body').get_attribute('data-md-color-scheme')

    for system, own in (('light', 'default'), ('dark', 'slate')):
        with Visit(browser, address, 1280, system) as visit:
            visit.open('index.html')
            assert scheme(visit) == own
            chosen = []
            for _ in range(2):
                visit.page.locator('form[data-md-component="palette"] label:visible').click()
                chosen.append(scheme(visit))
            assert chosen == ['default', 'slate']
            visit.open('vm.html')
            assert scheme(visit) == 'slate' and visit.wrong == []


@pytest.mark.parametrize('scheme', ['light', 'dark'])
def test_text_and_links_can_be_read(browser, address, scheme):
    """Their contrast with the ground is 4.5 and more, as WCAG's level AA asks for."""
    luminance = '''([selector]) => {
        const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
        const seen = (colour, ground) => {
            canvas.fillStyle = ground; canvas.fillRect(0, 0, 1, 1);
            canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
            const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map(
                part => (part /= 255) <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const ground = getComputedStyle(document.body).backgroundColor;
        const colour = getComputedStyle(document.querySelector(selector)).color;
        return [seen(colour, ground), seen(ground, ground)];
    }'''
    with Visit(browser, address, 1280, scheme) as visit:
        visit.open('index.html')
        for selector in ('article p', 'article p a', 'article h1', 'article pre code'):
            text, ground = visit.page.evaluate(luminance, [selector])
            contrast = (max(text, ground) + 0.05) / (min(text, ground) + 0.05)
            assert contrast >= 4.5, (selector, contrast)
