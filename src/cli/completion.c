/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge completion: scripts that complete commands, options and their values, made from the same
 * tables that parse them. */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "options.h"

static const char usage[] = "ridge completion bash|zsh";

static void add_command_names(ridge_output *output)
{
    const struct command *command;

    for (command = commands; command->name != NULL; command++)
        ridge_output_format(output, "%s%s", command == commands ? "" : " ", command->name);
}

/* -- bash -------------------------------------------------------------------------------------- */

static void add_pattern(ridge_output *output, const struct option *option)
{
    ridge_output_format(output, "        --%s", option->long_name);
    if (option->short_name != 0)
        ridge_output_format(output, " | -%c", option->short_name);
    ridge_output_text(output, ")");
}

/* What the argument of a command may be, when it is one of a list; NULL: it is not. */
static const char *const *argument_words(const struct command *command)
{
    if ((command->flags & COMMAND_TOPICS) != 0)
        return cli_topic_ids();
    if ((command->flags & COMMAND_CHIPS) != 0)
        return cli_chip_ids();
    return (command->flags & COMMAND_OPERATIONS) != 0 ? cli_operation_names() : NULL;
}

static const char *argument_kind(const struct command *command)
{
    if ((command->flags & COMMAND_TOPICS) != 0)
        return "finding";
    return (command->flags & COMMAND_CHIPS) != 0 ? "chip" : "operation";
}

/* "ID,...": the value is a list. */
static bool is_list(const struct option *option)
{
    return option->argument != NULL && strchr(option->argument, ',') != NULL;
}

static void add_words(ridge_output *output, const char *const *words)
{
    size_t i;

    for (i = 0; words[i] != NULL; i++)
        ridge_output_format(output, "%s%s", i > 0 ? " " : "", words[i]);
}

/* The case of a command: first values of options, then the options themselves. */
static void add_bash_case(const struct command *command, const char *usage_line,
                          const struct option *options, void *context)
{
    ridge_output *const output = context;
    const struct option *option;

    (void)usage_line;
    ridge_output_format(output, "    %s)\n        case $previous in\n", command->name);
    for (option = options; option->kind != OPTION_END; option++) {
        if (option->argument == NULL)
            continue;
        add_pattern(output, option);
        if (option->choices != NULL) {
            ridge_output_text(output, " words='");
            add_words(output, option->choices);
            ridge_output_text(output, is_list(option) ? "'; list=1 ;;\n" : "' ;;\n");
        } else {
            ridge_output_text(output, " return ;;\n");
        }
    }
    ridge_output_text(output, "        *) words='");
    for (option = options; option->kind != OPTION_END; option++)
        ridge_output_format(output, "%s--%s", option == options ? "" : " ", option->long_name);
    ridge_output_text(output, "'");
    if ((command->flags & COMMAND_NAMES) != 0)
        ridge_output_text(output, "; [[ $current == -* ]] || words=$commands");
    else if (argument_words(command) != NULL) {
        ridge_output_text(output, "; [[ $current == -* ]] || words='");
        add_words(output, argument_words(command));
        ridge_output_text(output, "'");
    } else if ((command->flags & COMMAND_FILES) != 0)
        ridge_output_text(output, "; [[ $current == -* ]] || return");
    ridge_output_text(output, " ;;\n        esac\n        ;;\n");
}

static void print_bash(ridge_output *output)
{
    const struct command *command;

    ridge_output_text(output, "# bash completion of ridge, printed by: ridge completion bash\n"
                              "_ridge() {\n"
                              "    local current=${COMP_WORDS[COMP_CWORD]} words= list=\n"
                              "    local previous=${COMP_WORDS[COMP_CWORD - 1]} commands='");
    add_command_names(output);
    ridge_output_text(
        output, "'\n"
                "    COMPREPLY=()\n"
                "    if ((COMP_CWORD == 1)); then\n"
                "        COMPREPLY=($(compgen -W \"$commands --help --version\" -- \"$current\"))\n"
                "        return\n"
                "    fi\n"
                "    # \"--color=al\" comes as three words.\n"
                "    [[ $current == = ]] && current=\n"
                "    [[ $previous == = ]] && previous=${COMP_WORDS[COMP_CWORD - 2]}\n"
                "    case ${COMP_WORDS[1]} in\n");
    for (command = commands; command->name != NULL; command++)
        command_visit(command, add_bash_case, output);
    ridge_output_text(output, "    esac\n"
                              "    # Of a list the last part is completed.\n"
                              "    [[ $list && $current =~ ^[a-z0-9_,-]*,[a-z0-9_-]*$ ]] &&\n"
                              "        words=${current%,*},${words// / ${current%,*},}\n"
                              "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
                              "    [[ ${COMPREPLY[0]-} == *: ]] && compopt -o nospace 2>/dev/null\n"
                              "    return 0\n"
                              "}\n"
                              "complete -o bashdefault -o default -F _ridge ridge\n");
}

/* -- zsh --------------------------------------------------------------------------------------- */

/* Text inside '...[help]': quotes, brackets and colons are special. */
static void add_zsh_text(ridge_output *output, const char *text)
{
    for (; *text != '\0'; text++) {
        const char letter[2] = {*text, '\0'};

        if (*text == '\'') {
            ridge_output_text(output, "'\\''");
            continue;
        }
        if (strchr("[]:\\", *text) != NULL)
            ridge_output_text(output, "\\");
        ridge_output_text(output, letter);
    }
}

/* The action of an option: one of the words, several with commas, or the beginning of a value. */
static void add_zsh_words(ridge_output *output, const struct option *option)
{
    const bool is_choice = option->kind == OPTION_CHOICE;
    size_t i;

    ridge_output_text(output, is_choice         ? "("
                              : is_list(option) ? "_sequence compadd - "
                                                : "compadd -S \"\" - ");
    for (i = 0; option->choices[i] != NULL; i++) {
        ridge_output_text(output, i > 0 ? " " : "");
        add_zsh_text(output, option->choices[i]);
    }
    ridge_output_text(output, is_choice ? ")" : "");
}

static void add_zsh_option(ridge_output *output, const struct option *option)
{
    const char *const equals = option->argument != NULL ? "=" : "";
    if (option->short_name != 0)
        ridge_output_format(output, "            '(-%c --%s)'{-%c%s,--%s%s}'[", option->short_name,
                            option->long_name, option->short_name,
                            option->argument != NULL ? "+" : "", option->long_name, equals);
    else
        ridge_output_format(output, "            '--%s%s[", option->long_name, equals);
    add_zsh_text(output, option->help);
    ridge_output_text(output, "]");
    if (option->argument != NULL) {
        ridge_output_text(output, ":");
        add_zsh_text(output, option->argument);
        ridge_output_text(output, ":");
    }
    if (option->choices != NULL) {
        add_zsh_words(output, option);
    }
    ridge_output_text(output, "' \\\n");
}

static void add_zsh_case(const struct command *command, const char *usage_line,
                         const struct option *options, void *context)
{
    ridge_output *const output = context;
    const struct option *option;

    (void)usage_line;
    ridge_output_format(output, "    %s)\n        _arguments -s \\\n", command->name);
    for (option = options; option->kind != OPTION_END; option++)
        add_zsh_option(output, option);
    if ((command->flags & COMMAND_NAMES) != 0) {
        ridge_output_text(output, "            '*:command:(");
        add_command_names(output);
        ridge_output_text(output, ")'\n");
    } else if (argument_words(command) != NULL) {
        ridge_output_format(output, "            ':%s:(", argument_kind(command));
        add_words(output, argument_words(command));
        ridge_output_text(output, ")'\n");
        if ((command->flags & COMMAND_OPERATIONS) != 0) /* ridge bound model CONFIG.JSON */
            ridge_output_text(output, "            '*:config:_files'\n");
    } else if ((command->flags & COMMAND_FILES) != 0) {
        ridge_output_text(output, "            '*:report:_files'\n");
    } else {
        ridge_output_text(output, "            '*::'\n");
    }
    ridge_output_text(output, "        ;;\n");
}

static void print_zsh(ridge_output *output)
{
    const struct command *command;

    ridge_output_text(output, "#compdef ridge\n"
                              "# zsh completion of ridge, printed by: ridge completion zsh\n"
                              "_ridge() {\n"
                              "    local -a commands\n"
                              "    commands=(\n");
    for (command = commands; command->name != NULL; command++) {
        ridge_output_format(output, "        '%s:", command->name);
        add_zsh_text(output, command->summary);
        ridge_output_text(output, "'\n");
    }
    ridge_output_text(output, "    )\n"
                              "    if ((CURRENT == 2)); then\n"
                              "        _describe command commands\n"
                              "        return\n"
                              "    fi\n"
                              "    shift words\n"
                              "    ((CURRENT--))\n"
                              "    case $words[1] in\n");
    for (command = commands; command->name != NULL; command++)
        command_visit(command, add_zsh_case, output);
    ridge_output_text(output, "    esac\n"
                              "}\n"
                              "if [[ $funcstack[1] == _ridge ]]; then\n"
                              "    _ridge \"$@\"\n"
                              "else\n"
                              "    compdef _ridge ridge\n"
                              "fi\n");
}

/* -- the command ------------------------------------------------------------------------------- */

int cmd_completion(int argc, char **argv)
{
    static const struct cli_output plain = {0};
    ridge_output *output;
    const struct option options[] = {
        OPT_HELP,
        OPT_END,
    };
    bool zsh;
    int status;

    if (!options_parse(&argc, argv, usage, options, &status))
        return status;
    if (argc != 2 || (strcmp(argv[1], "bash") != 0 && strcmp(argv[1], "zsh") != 0))
        return cli_usage_error("expected bash or zsh");
    zsh = strcmp(argv[1], "zsh") == 0;
    output = cli_open(&plain);
    if (zsh)
        print_zsh(output);
    else
        print_bash(output);
    return cli_close(output, CLI_DONE);
}
