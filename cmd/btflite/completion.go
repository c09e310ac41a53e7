package main

import (
	"fmt"
	"io"
	"strings"
)

// runCompletion is "btflite completion SHELL": a script for the shell's
// completion, made of the option tables.
func (c *cli) runCompletion(args []string) error {
	scripts := map[string]func() string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}
	if len(args) != 1 || scripts[args[0]] == nil {
		return usagef("completion takes the name of a shell: bash, zsh or fish")
	}
	_, err := io.WriteString(c.stdout, scripts[args[0]]())
	return stdoutError(err)
}

// completed are the options of a command that are worth completing.
func completed(cmd *subcommand) []*option {
	var list []*option
	for i := range cmd.options {
		if o := &cmd.options[i]; o.group != "" {
			list = append(list, o)
		}
	}
	return list
}

// words are the option names, with "=" where an argument follows.
func words(cmd *subcommand) string {
	var list []string
	for _, o := range completed(cmd) {
		w := o.name()
		if o.arg == requiredArg {
			w += "="
		}
		list = append(list, w)
	}
	return strings.Join(list, " ")
}

// names are the names of the subcommands.
func names() string {
	var list []string
	for _, cmd := range commands[1:] {
		list = append(list, cmd.name)
	}
	return strings.Join(append(list, "version"), " ")
}

func bashCompletion() string {
	var b strings.Builder
	b.WriteString("# bash completion for btflite, written by \"btflite completion bash\"\n_btflite() {\n" +
		"\tlocal cur=${COMP_WORDS[COMP_CWORD]} words\n\tCOMPREPLY=()\n\tcase ${COMP_WORDS[1]} in\n")
	for i := range commands[1:] {
		fmt.Fprintf(&b, "\t%s) words='%s' ;;\n", commands[1+i].name, words(&commands[1+i]))
	}
	fmt.Fprintf(&b, "\t*) words='%s' ;;\n\tesac\n", words(&commands[0]))
	b.WriteString("\tif [[ $cur == -* ]]; then\n\t\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n" +
		"\t\t[[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n")
	fmt.Fprintf(&b, "\telif [ \"$COMP_CWORD\" = 1 ]; then\n\t\tmapfile -t COMPREPLY < <(compgen -f -W '%s' -- \"$cur\")\n\tfi\n", names())
	b.WriteString("\treturn 0\n}\ncomplete -o default -F _btflite btflite\n")
	return b.String()
}

// zshQuoted is help text inside a spec in single quotes.
var zshQuoted = strings.NewReplacer("'", `'\''`, "[", `\[`, "]", `\]`, ":", `\:`)

func zshCompletion() string {
	var b strings.Builder
	b.WriteString("#compdef btflite\n# zsh completion for btflite, written by \"btflite completion zsh\"\ncase $words[2] in\n")
	for i := range commands {
		cmd := &commands[(i+1)%len(commands)] // the encoder is the last case
		pattern := cmd.name
		if pattern == "" {
			pattern = "*"
		}
		fmt.Fprintf(&b, "%s)\n\t_arguments \\\n", pattern)
		for _, o := range completed(cmd) {
			arg := map[argKind]string{noArg: "", optionalArg: "=-", requiredArg: "="}[o.arg]
			value := ""
			if o.arg != noArg {
				value = ":" + o.argName + ":_files"
			}
			fmt.Fprintf(&b, "\t\t'%s%s[%s]%s' \\\n", o.name(), arg, zshQuoted.Replace(o.help), value)
			if o.short != 0 {
				if o.arg != noArg {
					arg = "-"
				}
				fmt.Fprintf(&b, "\t\t'-%s%s[%s]%s' \\\n", strings.ReplaceAll(string(o.short), "?", `\?`), arg, zshQuoted.Replace(o.help), value)
			}
		}
		b.WriteString("\t\t'*:file:_files'\n\t;;\n")
	}
	b.WriteString("esac\n")
	return b.String()
}

func fishCompletion() string {
	var b strings.Builder
	b.WriteString("# fish completion for btflite, written by \"btflite completion fish\"\n")
	fmt.Fprintf(&b, "complete -c btflite -n __fish_is_first_token -a '%s'\n", names())
	for i := range commands {
		when := "__fish_seen_subcommand_from " + commands[i].name
		if commands[i].name == "" {
			when = "not __fish_seen_subcommand_from " + names()
		}
		for _, o := range completed(&commands[i]) {
			fmt.Fprintf(&b, "complete -c btflite -n '%s' -l %s", when, o.long[0])
			if o.short != 0 {
				fmt.Fprintf(&b, " -s '%c'", o.short)
			}
			if o.arg == requiredArg {
				b.WriteString(" -r")
			}
			fmt.Fprintf(&b, " -d '%s'\n", strings.ReplaceAll(o.help, "'", `\'`))
		}
	}
	return b.String()
}
