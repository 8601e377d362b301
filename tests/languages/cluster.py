"""A dqlite cluster of three nodes on the loopback interface, each a process on our library, and clients of it."""

import base64
import json
import os
import socket
import subprocess
import threading
import time

from tests.languages import running

GOPATH = '/usr/share/gocode'        # where Debian has Go's packages
PACKAGES = 'libdqlite-dev and golang-github-canonical-go-dqlite-dev'
DATABASE = 'test'


def installed():
    """Return whether dqlite and go-dqlite are installed."""
    return os.path.exists('/usr/include/dqlite.h') and os.path.isdir(GOPATH + '/src/github.com/canonical/go-dqlite')


def build(go):
    """Return the path of node.go, compiled against Debian's dqlite."""
    path = os.path.join(running.FOLDER, 'dqlite-node')
    running.build([go, 'build', '-o', path, 'node.go'], os.path.join(running.ROOM, 'dqlite'),
                  {'GO111MODULE': 'off', 'GOPATH': GOPATH, 'GOTOOLCHAIN': 'local', 'GOFLAGS': ''})
    return path


def free_addresses(number):
    """Return addresses (list of str) of the loopback interface whose ports nobody has."""
    sockets = [socket.socket() for _ in range(number)]
    try:
        for one in sockets:
            one.bind(('127.0.0.1', 0))
        return ['127.0.0.1:%d' % one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def value(text):
    """Return a value (int, float, str, bytes or None) as node.go writes it."""
    kind, rest = text[0], text[1:]
    return {'n': lambda: None, 'i': lambda: int(rest), 'r': lambda: float.fromhex(rest),
            't': lambda: base64.b64decode(rest).decode(), 'b': lambda: base64.b64decode(rest)}[kind]()


class Failed(Exception):
    """A request has failed, or what became of it isn't known; the message is the client's."""


class Client:
    """A client of the cluster: one connection, in a process of its own.

    Args:
        program: path of node.go, compiled.
        addresses: the nodes' (list of str).
    """

    def __init__(self, program, addresses):
        self.process = subprocess.Popen([program, 'client'] + addresses, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, universal_newlines=True,
                                        env=running.clean())

    def ask(self, **request):
        """Return the answer (dict) to a request of node.go's. Raises Failed."""
        self.process.stdin.write(json.dumps(request) + '\n')
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if 'error' in answer:
            raise Failed(answer['error'])
        return answer

    def execute(self, sql):
        """Execute a statement. Raises Failed."""
        self.ask(Do='exec', SQL=sql)

    def query(self, sql):
        """Return a query's rows (list of tuples). Raises Failed."""
        rows = self.ask(Do='query', SQL=sql).get('rows', [])
        return [tuple(map(value, row)) for row in rows]

    def patient_query(self, sql, seconds=60):
        """The same, asked again while there is no leader."""
        end = time.monotonic() + seconds
        while True:
            try:
                return self.query(sql)
            except Failed:
                if time.monotonic() > end:
                    raise
                time.sleep(0.2)

    def leader(self):
        """Return the leader's address."""
        return self.ask(Do='leader')['leader']

    def dump(self, address, folder):
        """Write a node's own copy of the database, as it has it, to a folder; return the path."""
        files = self.ask(Do='dump', Address=address)['files']
        os.makedirs(folder)
        for name, content in files.items():
            with open(os.path.join(folder, name), 'wb') as file:
                file.write(base64.b64decode(content))
        return os.path.join(folder, DATABASE)

    def close(self):
        """End it."""
        self.process.stdin.close()
        try:
            self.process.wait(20)
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
            self.process.stdout.close()


class Cluster:
    """Three nodes.

    Args:
        program: path of node.go, compiled.
        folder: for the nodes' files (path).

    Attributes:
        addresses: list of str; node n is the one at addresses[n - 1].
    """

    def __init__(self, program, folder):
        self.program = program
        self.folder = str(folder)
        self.addresses = free_addresses(3)
        self.nodes = {}

    def start(self, n):
        """Start node n, anew or again."""
        folder = os.path.join(self.folder, 'node-%d' % n)
        os.makedirs(folder, exist_ok=True)
        command, environment = running.command_on(
            'ours', [self.program, 'node', str(n), self.addresses[n - 1], folder], self.witness_file(n))
        with open(folder + '.log', 'ab') as log:
            node = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                                    env=environment)
        self.nodes[n] = node
        assert node.stdout.readline() == b'ready\n', open(folder + '.log', errors='replace').read()[-3000:]

    def begin(self):
        """Start all nodes and have them be one cluster."""
        for n in (1, 2, 3):
            self.start(n)
        client = self.client()
        for n in (2, 3):
            client.ask(Do='add', ID=n, Address=self.addresses[n - 1])
        client.close()

    def client(self):
        """Return a new Client."""
        return Client(self.program, self.addresses)

    def number(self, address):
        """Return the number of the node at an address."""
        return self.addresses.index(address) + 1

    def witness_file(self, n):
        """Return the path of node n's Witness."""
        return os.path.join(self.folder, 'witness-%d' % n)

    def witness(self, n):
        """Return node n's Witness."""
        return running.read(self.witness_file(n))

    def kill(self, n):
        """Kill node n, by SIGKILL."""
        self.nodes[n].kill()
        self.nodes[n].wait()

    def close(self):
        """Stop all nodes; return their exit codes ({n: int})."""
        codes = {}
        for node in self.nodes.values():
            node.stdin.close()
        for n, node in self.nodes.items():
            try:
                codes[n] = node.wait(30)
            except subprocess.TimeoutExpired:
                node.kill()
                codes[n] = node.wait()
            node.stdout.close()
        return codes


class Writer(threading.Thread):
    """Inserts a number a transaction, and notes what became of it, until it is stopped.

    Attributes:
        acknowledged: numbers whose INSERT has returned (list of int).
        uncertain: numbers whose INSERT has failed, so that it may or may not have been done (list of int).
    """

    def __init__(self, client):
        threading.Thread.__init__(self, daemon=True)
        self.client = client
        self.acknowledged = []
        self.uncertain = []
        self.stopping = False

    def run(self):
        """See threading.Thread."""
        n = 0
        while not self.stopping:
            n += 1
            try:
                self.client.execute("INSERT INTO written VALUES (%d, 'number %d')" % (n, n))
                self.acknowledged.append(n)
            except Failed:
                self.uncertain.append(n)
                time.sleep(0.05)

    def wait_for(self, number, seconds=60):
        """Wait until so many more have been acknowledged than there are now."""
        enough, end = len(self.acknowledged) + number, time.monotonic() + seconds
        while len(self.acknowledged) < enough:
            assert self.is_alive() and time.monotonic() < end, (len(self.acknowledged), self.uncertain[-5:])
            time.sleep(0.02)
