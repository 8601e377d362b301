"""Griffe's extension that gives `sqpyte` its public names, as `sqpyte/__init__.py` does when a program runs.

There they are found at run time. Here nothing is run: a name is what `pypy_module.module` imports or defines, or what
MORE says; it moves into `sqpyte`, so that a class is documented, and linked to, by its public name.
"""

import re

import griffe

MORE = {
    'Blob': 'pypy_module.dbapi.blob.Blob',
    'configure': 'pypy_module.settings.configure',
    'explain': 'pypy_module.dbapi.explain.explain',
    'status': 'pypy_module.status.status',
    'Status': 'pypy_module.status.Status',
    'install': 'pypy_module.public.install',
    'Backend': 'pypy_module.native.backend.Backend',
    'Explanation': 'pypy_module.dbapi.explain.Explanation',
    'Plan': 'pypy_module.dbapi.explain.Plan',
    'Step': 'pypy_module.dbapi.explain.Step',
}
# Names of the sources that stand for a public one, as a parameter's default.
DEFAULTS = {'LEGACY': 'LEGACY_TRANSACTION_CONTROL'}
SECTION = re.compile(r'(?<!\n)\n(?=(?:Args|Attributes|Raises|Returns|Warns):\n)')
RETURNS = re.compile(r'^Returns:\n((?: +.*\n?)+)', re.MULTILINE)
NAMES = re.compile(r'^ +\w+(?:, \w+)+:', re.MULTILINE)
SLASH = '%s, /'
METHOD = re.compile(r'(\w+)\(\)\.(\w+)$')       # NAME = CLASS().METHOD


def callable_of(found):
    """Return the function that a module's attribute is, if it is a bound method; else what was given."""
    match = found.is_attribute and METHOD.match(str(found.value))
    if not match:
        return found
    function = found.parent[match.group(1)][match.group(2)]
    function.parameters = griffe.Parameters(*list(function.parameters)[1:])
    return function


def shown(parameters):
    """Return a function's Parameters as a signature is to have them.

    mkdocstrings writes a `/` only if a parameter follows: behind the last one it is put here.
    """
    found = list(parameters)
    for parameter in found:
        parameter.default = DEFAULTS.get(str(parameter.default), parameter.default)
    last = found[-1] if found else None
    if last and last.kind is griffe.ParameterKind.positional_only and last.name != 'self':
        if last.default is None:
            last.name = SLASH % last.name.partition(',')[0]
        else:
            last.default = SLASH % str(last.default).partition(', /')[0]
    return griffe.Parameters(*found)


def markdown(text):
    """Return a docstring (str) as griffe takes it for one of Google's style.

    There a section begins behind an empty line, an entry has one name, and what is returned has its type first.
    """
    text = SECTION.sub('\n\n', text)
    text = NAMES.sub(lambda match: match.group(0).replace(', ', ',\N{NO-BREAK SPACE}'), text)
    return RETURNS.sub(lambda match: '**Returns:** %s\n' % ' '.join(match.group(1).split()), text)


class PublicNames(griffe.Extension):
    """What griffe calls when it has read an object or a package."""

    def on_object(self, *, obj, **keywords):
        """Griffe's event."""
        if obj.docstring:
            obj.docstring.value = markdown(obj.docstring.value)

    def on_attribute(self, *, attr, **keywords):
        """Griffe's event: what is said to the type checker alone isn't shown."""
        if str(attr.annotation) == 'Any':
            attr.annotation = None

    def on_function(self, *, func, **keywords):
        """Griffe's event."""
        func.parameters = shown(func.parameters)

    def on_package(self, *, pkg, loader, **keywords):
        """Griffe's event."""
        if pkg.path != 'sqpyte':
            return
        loader.load('pypy_module')
        module = loader.modules_collection['pypy_module.module']
        names = {name: member for name, member in module.members.items() if not name.startswith('_')}
        names.update((name, loader.modules_collection[path]) for name, path in MORE.items())
        found = {name: callable_of(member.final_target if member.is_alias else member)
                 for name, member in names.items()}
        found = {name: member for name, member in found.items() if member.is_class or member.is_function}
        for member in found.values():
            if member.is_class:
                # As paths: a name is looked for in the class's own module, which it is about to leave.
                member.bases = [str(getattr(base, 'canonical_path', base)) for base in member.bases]
        for name, member in found.items():
            member.name = name
            pkg.set_member(name, member)
