"""`python -m pellucid.studies` lists the studies; `python -m pellucid.studies NAME --size small ...` runs one."""

from pellucid.studies.shared.runner import main

if __name__ == "__main__":
    main()
