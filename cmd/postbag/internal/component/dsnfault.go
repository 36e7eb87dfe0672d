package component

import (
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// mustEncode is the hint at what most DSNs with a slip have in common.
const mustEncode = "user or password holds a character that a URL cannot, so write it in percent-encoding: " +
	"@ as %40, : as %3A, / as %2F, ? as %3F, # as %23, % as %25, a space as %20"

// Parts of a URL's user and password that are not as they must be.
var (
	brokenEscape = regexp.MustCompile(`%([^0-9A-Fa-f]|[0-9A-Fa-f][^0-9A-Fa-f]|.?$)`)
	rawCharacter = regexp.MustCompile("[@/?#\\s\"<>^`{|}\\[\\]\\\\]")
)

// urlFault says what is wrong with a DSN that is a URL, and shows nothing of it.
// Empty: nothing that it knows of.
func urlFault(dsn string) string {
	_, rest, isURL := strings.Cut(dsn, "://")
	if !isURL {
		return ""
	}
	plain := rest
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		plain = rest[:end]
	}
	host, last := plain, strings.LastIndexByte(rest, '@')
	switch u, err := url.Parse(dsn); {
	case strings.Contains(plain, "@"):
		at := strings.LastIndexByte(plain, '@')
		if info := plain[:at]; rawCharacter.MatchString(info) || brokenEscape.MatchString(info) {
			return mustEncode
		}
		host = plain[at+1:]
		if more := strings.LastIndexByte(rest, '@'); err != nil && more > at {
			return mustEncode
		}
	case last >= 0 && (err != nil || u.Fragment != "") && plain != "":
		return mustEncode // what ends the host stands in the password
	}
	if strings.Contains(rest, "#") {
		return "it holds a #, so write that as %23"
	}
	return hostFault(host)
}

// hostFault says what is wrong with the hosts of a URL, between which are commas.
func hostFault(hosts string) string {
	for host := range strings.SplitSeq(hosts, ",") {
		if strings.ContainsAny(host, " \t\r\n") {
			return "its host holds a space"
		}
		behind := host[strings.LastIndexByte(host, ']')+1:]
		if _, port, found := strings.Cut(behind, ":"); found && !portNumber(port) {
			return "its port is no number between 1 and 65535"
		}
	}
	return ""
}

func portNumber(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0
}

// driverFaults are what MySQL's driver says of a DSN, in words of ours. Its own may quote a value.
var driverFaults = []struct{ says, means string }{
	{"forget to escape", "what stands in parentheses, or a parameter's value, holds a / that must be written as %2F"},
	{"not terminated", "its address has no closing parenthesis"},
	{"missing the slash", "there is no / before the name of the database"},
	{"invalid dbname", "the name of the database is not percent-encoded as it must be"},
	{"default addr for network", "its network is neither tcp nor unix"},
	{"unsafe collations", "interpolateParams cannot go with that collation"},
}

// driverFault says what is wrong with a DSN in the form of MySQL's driver, and shows nothing of it but the names of parameters that the driver knows.
func driverFault(dsn string) string {
	c, err := mysql.ParseDSN(dsn)
	if err == nil {
		if _, port, err := net.SplitHostPort(c.Addr); c.Net == "tcp" && (err != nil || !portNumber(port)) {
			return "its port is no number between 1 and 65535"
		}
		if c.DBName == "" {
			return "it names no database behind the last /"
		}
		return ""
	}
	for _, known := range driverFaults {
		if strings.Contains(err.Error(), known.says) {
			return known.means
		}
	}
	_, query, _ := strings.Cut(dsn[strings.LastIndexByte(dsn, '/')+1:], "?")
	for parameter := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(parameter, "=")
		if _, err := url.QueryUnescape(value); err != nil {
			return "the value of a parameter is not percent-encoded as it must be"
		}
		if _, err := mysql.ParseDSN("/?" + parameter); err != nil {
			return "its parameter " + name + " takes no such value"
		}
	}
	return "one of its parts is not where it must be"
}
