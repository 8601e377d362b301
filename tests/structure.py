"""What modules import, read from their source: circles of modules and of folders."""

import ast
import functools
import glob
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@functools.lru_cache(None)
def modules(room):
    """Each module of a room (str) as (name, path in the repository, its tree): a list."""
    found = []
    for path in sorted(glob.glob(os.path.join(ROOT, room, '**', '*.py'), recursive=True)):
        path = os.path.relpath(path, ROOT)
        with open(os.path.join(ROOT, path)) as file:
            name = re.sub(r'(\.__init__)?\.py$', '', path).replace(os.sep, '.')
            found.append((name, path, ast.parse(file.read())))
    return found


def imports(tree, names):
    """The modules, of those named, that a module imports, also within functions (set of str)."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level
            for alias in node.names:
                full = '%s.%s' % (node.module, alias.name)
                found.add(full if full in names else node.module)
    return found & names


def reached(room, others):
    """The modules (set of str) that those of a room (str) import, by themselves or through others, of it and of
    `others` (list of str)."""
    trees = {name: tree for one in [room] + others for name, _, tree in modules(one)}
    found, left = set(), {name for name, _, _ in modules(room)}
    while left:
        found |= left
        left = set().union(*(imports(trees[name], set(trees)) for name in left)) - found
    return found


def circle(graph):
    """One circle of a graph (dict of sets), as a list of nodes, or None."""
    done, path = set(), []

    def visit(node):
        if node in path:
            return path[path.index(node):] + [node]
        if node in done:
            return None
        path.append(node)
        for following in sorted(graph.get(node, ())):
            found = visit(following)
            if found:
                return found
        path.pop()
        done.add(node)
        return None
    for node in sorted(graph):
        found = visit(node)
        if found:
            return found
    return None


def importing(room):
    """By each module of a room (str) the modules of it that it imports (dict of sets)."""
    trees = {name: tree for name, _, tree in modules(room)}
    return {name: imports(tree, set(trees)) - {name} for name, tree in trees.items()}


def circles(room):
    """A circle of a room's modules, and one of what is in each folder, its folders taken as one each (lists)."""
    graph = importing(room)
    graphs = [graph]
    for folder in {name.rpartition('.')[0] for name in graph} - {''}:
        def beside(name, folder=folder):
            return name[len(folder) + 1:].partition('.')[0] if name.startswith(folder + '.') else ''
        within: dict = {}
        for name, found in graph.items():
            if beside(name):
                within.setdefault(beside(name), set()).update(
                    beside(other) for other in found if beside(other) not in ('', beside(name)))
        graphs.append(within)
    return [found for found in map(circle, graphs) if found]
