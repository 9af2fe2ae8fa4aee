"""The verbs of the command line. Each turns arguments into a use case and its result into output, and nothing else."""

import click

from subtitle_rag.i18n import N_


class QueryCommand(click.Command):
    """A command whose argument is a query: `-word` excludes a word and is no option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, self.separated(ctx, args))

    def separated(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Return the arguments with excluded words behind `--`."""
        options = {name: param for param in self.get_params(ctx) for name in (*param.opts, *param.secondary_opts)}
        rest: list[str] = []
        excluded: list[str] = []
        remaining = iter(args)
        for argument in remaining:
            if argument == "--":
                excluded += remaining
            elif argument.startswith("-") and not argument.startswith("--") and argument not in ("-", *options):
                if f"-{argument}" in options:  # -json
                    raise click.NoSuchOption(argument, possibilities=[f"-{argument}"], ctx=ctx)
                excluded.append(argument)
            else:
                rest.append(argument)
                option = options.get(argument)
                if isinstance(option, click.Option) and not (option.is_flag or option.count):
                    rest += [value for _n, value in zip(range(option.nargs), remaining, strict=False)]
        return [*rest, "--", *excluded] if excluded else rest


json_option = click.option("--json", "as_json", is_flag=True, help=N_("Print one JSON document."))

jsonl_option = click.option("--jsonl", is_flag=True, help=N_("Print every event as a line of JSON while it happens."))
"""`--jsonl`"""
