"""Print the tables of docs/builders.md: all builders, their parameters, the constraints they honour."""

from topicloom.overlay import ALL_KINDS, BUILDERS


def table(heading: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table."""
    lines = [f"| {' | '.join(row)} |" for row in (heading, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(heading), *lines[1:]])


def builders() -> str:
    """Return aim, guarantee, time and paper of each builder."""
    rows = [
        [f"`{key}`", builder.aim, builder.guarantee, builder.complexity, builder.paper]
        for key, builder in BUILDERS.items()
    ]
    return table(["name", "aims at", "guarantee", "time", "paper"], rows)


def parameters() -> str:
    """Return one row for each `--set`."""
    rows = [
        [
            f"`{key}`",
            f"`{name.removesuffix('_')}`",
            parameter.allowed(),
            f"`{spelled(parameter.default)}`",
            parameter.help,
        ]
        for key, builder in BUILDERS.items()
        for name, parameter in builder.parameters.items()
    ]
    return table(["builder", "`--set`", "values", "default", "meaning"], rows)


def spelled(value: object) -> str:
    """Return the value as the command line spells it."""
    return (
        str(value).lower()
        if isinstance(value, bool)
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )


def constraints() -> str:
    """Return the constraints that each builder honours."""
    rows = [
        [f"`{key}`", *("yes" if kind in builder.honours else "" for kind in ALL_KINDS)]
        for key, builder in BUILDERS.items()
        if builder.honours
    ]
    return table(["builder", *(f"`--{kind}`" for kind in ALL_KINDS)], rows)


if __name__ == "__main__":
    print(builders(), parameters(), constraints(), sep="\n\n")
