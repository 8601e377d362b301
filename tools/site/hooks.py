"""What mkdocs is told: pages from all over the repository, and links as they are on a git host.

The texts link to one another by their places in the repository, so that they can be followed there. Here a link to a
page's text leads to the page, and has its title where it had the file's name; one to any other file of the
repository is the file's name.
"""

import os
import posixpath
import re

from mkdocs.structure.files import File

from tools.environments import ROOT
from tools.site import pages

OURS = {'assets/site.css': 'site.css', 'assets/icon.svg': 'icon.svg'}
LINK = re.compile(r'\[([^][]*)\]\(([^()\s]+)\)')
# A figure, a word, a name: it is in one line. A sentence: its column isn't narrow.
SHORT = re.compile(r'<td>(?=(?:\d[^<>]{0,21}|[^<>]{0,10}|<code>[^<>]{0,22}</code>)</td>)')
LONG = re.compile(r'<td>(?=.{60,}</td>)')
FENCE = re.compile(r'^ *```')
INDENTED = re.compile(r'^ {4}')


def on_config(config):
    """mkdocs' event: the navigation."""
    config.nav = pages.NAVIGATION
    return config


def on_files(files, config):
    """mkdocs' event: what isn't in docs/ becomes a file of the site."""
    for path, page in pages.ELSEWHERE.items():
        files.append(File.generated(config, page, abs_src_path=os.path.join(ROOT, path)))
    for page, text in pages.reference().items():
        files.append(File.generated(config, page, content=text))
    for path, name in OURS.items():
        files.append(File.generated(config, path, abs_src_path=os.path.join(ROOT, 'tools', 'site', name)))
    return files


def on_page_markdown(markdown, page, config, files):
    """mkdocs' event: a page's text, with the links of the site."""
    if page.file.src_uri in pages.WIDE:
        page.meta['hide'] = ['toc']
    if page.file.src_uri in pages.LAST_FOUND:
        page.meta['search'] = {'boost': 0.2}
    return linked(markdown, page.file.src_uri)


def linked(markdown, page):
    """Return a text (str) with the links of the site.

    Args:
        markdown: the text, with links of the repository (str).
        page: its page (str).
    """
    places = {other: path for path, other in pages.ELSEWHERE.items()}
    if page in pages.reference():
        return markdown
    folder = posixpath.dirname(places.get(page, 'docs/' + page))

    def replaced(match):
        text, target = match.groups()
        path, hash_sign, anchor = target.partition('#')
        if ':' in target or not path:
            return match.group(0)
        path = posixpath.normpath(posixpath.join(folder, path))
        if path.endswith('.md'):
            other = pages.ELSEWHERE.get(path) or posixpath.relpath(path, 'docs')
            if posixpath.basename(text) == posixpath.basename(path):
                text = pages.titles().get(other, text)
            return '[%s](%s)' % (text, posixpath.relpath(other, posixpath.dirname(page) or '.') + hash_sign + anchor)
        # What isn't there stays as it is: mkdocs says so.
        return text if os.path.exists(os.path.join(ROOT, path)) else match.group(0)
    return '\n'.join(line if code else LINK.sub(replaced, line) for line, code in with_code(markdown.split('\n')))


def with_code(lines):
    """Yield each line (str), and if it is code (bool): between fences, or indented behind an empty line.

    An indented line behind another is a list's that is inside a list.
    """
    fenced = code = False
    empty = True
    for line in lines:
        fence = bool(FENCE.match(line))
        code = bool(INDENTED.match(line)) and (empty or code)
        yield line, fenced or fence or code
        fenced ^= fence
        empty = not line.strip()


def on_page_content(html, page, config, files):
    """mkdocs' event: a page's HTML, with the short and long cells of its tables marked."""
    return LONG.sub('<td class="long">', SHORT.sub('<td class="short">', html))
