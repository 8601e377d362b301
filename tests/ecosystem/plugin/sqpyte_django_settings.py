"""Settings of Django's own tests on SQLite, with a runner that writes what became of each test."""

from test_sqlite import *       # noqa: F403

TEST_RUNNER = 'sqpyte_django_runner.Runner'
