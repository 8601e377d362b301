"""`python -m c_engine.build`: see build.py."""
import sys

from c_engine.build.build import main

sys.exit(main(sys.argv[1:]))
