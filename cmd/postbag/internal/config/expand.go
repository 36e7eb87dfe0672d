package config

import (
	"os"
	"regexp"
	"strings"
)

// variable is ${NAME}, or ${NAME:-text}; $${ stands for ${ itself.
var variable = regexp.MustCompile(`\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(:-[^{}]*)?\}`)

// expand puts the values of environment variables in their places. It returns what is
// wrong and how to fix it, and never a value.
func (b *binder) expand(text string) (expanded string, changed bool, fix string) {
	if !strings.Contains(text, "${") {
		return text, false, ""
	}
	if strings.Contains(variable.ReplaceAllString(text, " "), "${") {
		return text, false, "has a ${ without the name of a variable and a }, or a variable in the value of another; " +
			"write ${NAME}, ${NAME:-value}, or $${ for the characters themselves"
	}
	expanded = variable.ReplaceAllStringFunc(text, func(found string) string {
		changed = true
		if strings.HasPrefix(found, "$$") {
			return found[1:]
		}
		match := variable.FindStringSubmatch(found)
		name, otherwise := match[1], match[2]
		value, set := os.LookupEnv(name)
		switch {
		case set && (value != "" || otherwise == ""):
			return value
		case otherwise != "":
			return otherwise[len(":-"):]
		case b.source.Elsewhere:
			b.left = true
			return found
		}
		fix = "names the environment variable " + name + ", which is not set; export it, or write ${" + name + ":-...} with a value for then"
		return found
	})
	return expanded, changed, fix
}

// trimIndex takes the index of a list's member off a path.
func trimIndex(path string) string {
	if i := strings.LastIndexByte(path, '['); i >= 0 && strings.HasSuffix(path, "]") {
		return path[:i]
	}
	return path
}
