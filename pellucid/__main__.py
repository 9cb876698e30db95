"""`python -m pellucid` and the `pellucid` command."""

from pellucid.cli.app import main

if __name__ == "__main__":
    main()
