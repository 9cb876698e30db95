"""`python -m studies` lists the studies; `python -m studies NAME --size small ...` runs one."""

from studies.shared.runner import main

if __name__ == "__main__":
    main()
