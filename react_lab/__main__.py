"""`python -m react_lab` is `react-lab`."""

from react_lab.cli import main

if __name__ == "__main__":
    main()
