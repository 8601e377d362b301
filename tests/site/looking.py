"""What is wrong with a page, as a browser shows it."""

# The document is to be no wider than the window, and so is whatever can't be scrolled sideways by itself.
WIDE = '''() => {
    const most = document.documentElement.clientWidth, found = [];
    if (document.documentElement.scrollWidth > most)
        found.push('the page is ' + document.documentElement.scrollWidth + ' pixels wide');
    for (const one of document.querySelectorAll('article *')) {
        if (one.getBoundingClientRect().right <= most + 1 || !one.getClientRects().length) continue;
        let holder = one.parentElement;
        while (holder.tagName != 'ARTICLE' && !(/auto|scroll/.test(getComputedStyle(holder).overflowX) &&
                holder.getBoundingClientRect().right <= most + 1))
            holder = holder.parentElement;
        if (holder.tagName == 'ARTICLE') found.push('outside of the window: ' + one.outerHTML.slice(0, 80));
    }
    return found;
}'''

# Code and tables that are wider than what holds them: [tag, whether it could be scrolled].
SCROLLED = '''() => {
    const found = [];
    for (const one of document.querySelectorAll('article pre > code, article .md-typeset__scrollwrap')) {
        if (one.scrollWidth <= one.clientWidth) continue;
        one.scrollLeft = 40;
        found.push([one.tagName, one.scrollLeft > 0]);
        one.scrollLeft = 0;
    }
    return found;
}'''


class Visit:
    """One look at the site, in a window of its own.

    Attributes:
        page: the Page (playwright's).
        wrong: what the browser has complained of, and requests that failed or left the site (list of str).
    """

    def __init__(self, browser, address, width, scheme='light'):
        """Open a window.

        Args:
            browser: the Browser (playwright's).
            address: of the site (str).
            width: of the window, in pixels (int).
            scheme: the colours that the system prefers, 'light' or 'dark' (str).
        """
        self.address = address
        self.wrong = []
        self.context = browser.new_context(viewport={'width': width, 'height': 900}, color_scheme=scheme)
        self.page = self.context.new_page()
        self.page.set_default_timeout(15000)
        self.page.on('console', lambda said: said.type in ('error', 'warning') and self.wrong.append(said.text))
        self.page.on('pageerror', lambda error: self.wrong.append(str(error)))
        self.page.on('request', self.requested)
        self.page.on('requestfailed', lambda request: self.wrong.append('failed: ' + request.url))
        self.page.on('response', lambda answer: answer.status >= 400 and self.wrong.append(
            '%d: %s' % (answer.status, answer.url)))

    def requested(self, request):
        """Note a request that leaves the site."""
        if not request.url.startswith((self.address, 'data:', 'blob:' + self.address)):
            self.wrong.append('another host: ' + request.url)

    def open(self, name):
        """Go to a page of the site (str), and wait until it has all."""
        self.page.goto(self.address + name, wait_until='networkidle')

    def name(self):
        """The name of the page that is shown (str)."""
        return self.page.url[len(self.address):].partition('#')[0].partition('?')[0]

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.context.close()
