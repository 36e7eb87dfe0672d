package config

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strings"
)

// secretNames match the ends of names whose values are secret.
const secretNames = `pass(?:word|wd|phrase)?|pwd|secret|token|api[-_]?key|access[-_]?key` //nolint:gosec // a pattern

// Where DSNs and URLs hold secrets when no parser can tell.
var (
	secretWord    = regexp.MustCompile(`(?i)(` + secretNames + `|signature|credential)s?$`)
	secretKeyword = regexp.MustCompile(`(?i)(?:^|[\s?&;])([a-z_-]*(?:` + secretNames + `))\s*=\s*('[^']*'?|[^\s&;]+)`)
	secretInfo    = regexp.MustCompile(`://[^/?#\s@]*:[^\s]*@`)
	secretStart   = regexp.MustCompile(`^[^\s/@:]+:[^\s@]*@`)
)

// HasPassword says whether a DSN holds a password: then it must not be an
// argument, nor stand in a configuration file. A user alone is no secret.
func HasPassword(dsn string) bool {
	if m := secretKeyword.FindStringSubmatch(dsn); m != nil && strings.Trim(m[2], "'") != "" {
		return true
	}
	u, err := url.Parse(dsn)
	if err != nil || u.Scheme == "" || u.Host == "" && u.User == nil {
		return secretInfo.MatchString(dsn) || secretStart.MatchString(dsn)
	}
	password, _ := u.User.Password()
	return password != "" || secretQuery(u)
}

// HasCredential says whether a URL of a destination, or any of several with
// commas between, holds a secret. A user alone is one: it may be a token.
func HasCredential(urls string) bool {
	if HasPassword(urls) {
		return true
	}
	for text := range strings.SplitSeq(urls, ",") {
		u, err := url.Parse(strings.TrimSpace(text))
		if err == nil && (u.User.Username() != "" || secretQuery(u)) || err != nil && strings.Contains(text, "@") {
			return true
		}
	}
	return false
}

func secretQuery(u *url.URL) bool {
	for name, values := range u.Query() {
		if secretWord.MatchString(name) && strings.Join(values, "") != "" {
			return true
		}
	}
	return false
}

// What Redact looks for in text of any kind.
var (
	redactInfo    = regexp.MustCompile(`(://)[^/?#\s@"'` + "`" + `]*:?[^\s"'` + "`" + `]*@`)
	redactKeyword = regexp.MustCompile(`(?i)((?:` + secretNames + `)["']?\s*[=:]\s*)('[^']*'|"[^"]*"|[^\s&;,"']+)`)
	redactWebhook = regexp.MustCompile(`whsec_[A-Za-z0-9+/=_-]+`)
)

// Redact takes out of a text what looks like a secret: it is the last guard for
// messages that quote what somebody typed in the wrong place.
func Redact(text string) string {
	text = redactInfo.ReplaceAllString(text, "${1}***@")
	text = redactWebhook.ReplaceAllString(text, "whsec_***")
	return redactKeyword.ReplaceAllString(text, "${1}***")
}

// maxSecret bounds a file that holds a secret, in bytes.
const maxSecret = 64 << 10

// FromEnv returns the value of an environment variable that must be set.
func FromEnv(name string) (string, error) {
	if v := strings.TrimSpace(os.Getenv(name)); v != "" {
		return v, nil
	}
	if !environmentName.MatchString(name) {
		return "", errors.New("what should name an environment variable is no such name; write the variable's name, not its value")
	}
	return "", fmt.Errorf("the environment variable %s is not set; export it", name)
}

var environmentName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// FromFile returns the single line that a file holds.
func FromFile(path string) (string, error) {
	data, err := readBounded(path, maxSecret)
	if err != nil {
		return "", err
	}
	v := strings.TrimSpace(string(data))
	switch {
	case v == "":
		return "", fmt.Errorf("%s is empty; write the value into it", path)
	case strings.ContainsAny(v, "\r\n\x00"):
		return "", fmt.Errorf("%s holds more than one line; leave nothing in it but the value", path)
	}
	return v, nil
}

// FromEither returns what a variable or a file holds; empty if neither is named.
func FromEither(env, file string) (string, error) {
	switch {
	case env != "":
		return FromEnv(env)
	case file != "":
		return FromFile(file)
	}
	return "", nil
}
