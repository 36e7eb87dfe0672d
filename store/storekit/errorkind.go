package storekit

import (
	"regexp"
	"strings"
)

// What a kind has in place of what differs.
const (
	anyNumber, anyID, anyQuoted = "N", "ID", "…"

	// mark stands before and behind each of them while a kind is made. No error holds it: it is no text.
	mark = "\xff"
)

var (
	quotedParts = regexp.MustCompile("\"[^\"]*\"|`[^`]*`|(?:^|[\\s(\\[=:,])'[^']*'")
	idParts     = regexp.MustCompile(`\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b|\b[0-9a-fA-F]{8,}\b`)
	// numberParts has the words before a number that say what kind of error it is, such as a status of HTTP.
	numberParts = regexp.MustCompile(`(?i)(?:\b(?:(?:http|status|code|errno)(?:: ?|[ =])|(?:answered|error) ))?[0-9]+(?:[.,:][0-9]+)*`)
	// hostParts find hosts: behind the scheme of a URL, behind the word lookup, or before a port. A name before a port begins with a
	// letter: 10.0.0.7:443 is an address, of which a destination may have many.
	hostParts = regexp.MustCompile(`(?:://(?:[^\s/@"'` + "`" + `]*@)?|\blookup )([A-Za-z0-9][A-Za-z0-9.-]*)|(?:^|[\s"'(\[=,@>` + "`" + `])([A-Za-z][A-Za-z0-9-]*(?:\.[A-Za-z0-9-]+)*):[0-9]{2,5}\b`)
	// quotedURL is a URL that a quoted part begins with, up to its host, and quotedHost a quoted host with a port.
	quotedURL  = regexp.MustCompile(`^[a-z][a-z0-9+.-]*://[A-Za-z0-9][A-Za-z0-9.-]*`)
	quotedHost = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]*(?:\.[A-Za-z0-9-]+)*:[0-9]{2,5}$`)
)

// masked returns an error with a word between marks in place of each part that differs. Hosts stay, without their ports: two
// destinations that are away are two kinds.
func masked(reason string) string {
	text := quotedParts.ReplaceAllStringFunc(strings.ToValidUTF8(reason, "\ufffd"), maskedQuote)
	var out strings.Builder
	for text != "" {
		from, to := hostIn(text)
		out.WriteString(maskedNumbers(text[:from]))
		out.WriteString(text[from:to])
		text = text[to:]
	}
	return out.String()
}

// maskedQuote masks what is quoted, but for a host.
func maskedQuote(part string) string {
	last := part[len(part)-1:]
	from := strings.Index(part, last) + 1
	inside := part[from : len(part)-1]
	if quotedHost.MatchString(inside) {
		return part
	}
	return part[:from] + quotedURL.FindString(inside) + mark + anyQuoted + mark + last
}

// hostIn returns where the first host of a text stands. None: at its end.
func hostIn(text string) (from, to int) {
	for _, at := range hostParts.FindAllStringSubmatchIndex(text, -1) {
		from, to = at[2], at[3]
		if from < 0 {
			from, to = at[4], at[5]
		}
		// A word without a number is masked nowhere, and may be that before a status. An id before a number is no host.
		if host := text[from:to]; strings.ContainsAny(host, "0123456789") && (at[2] >= 0 || !idParts.MatchString(host)) {
			return from, to
		}
	}
	return len(text), len(text)
}

func maskedNumbers(text string) string {
	text = idParts.ReplaceAllStringFunc(text, func(part string) string {
		if !strings.ContainsAny(part, "0123456789") {
			return part // a word
		}
		return mark + anyID + mark
	})
	return numberParts.ReplaceAllStringFunc(text, func(part string) string {
		if part[0] < '0' || part[0] > '9' {
			return part
		}
		return mark + anyNumber + mark
	})
}

// ErrorKind returns an error without what differs from message to message. Statuses and codes stay: they say what kind it is. So do
// the hosts of URLs, and names of hosts before a port or behind the word lookup. All line ends are \n: a form of a browser brings a
// kind back with line ends of its own.
func ErrorKind(reason string) string {
	return lineEnds.Replace(strings.ReplaceAll(masked(reason), mark, ""))
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// ErrorSearch is the longest part of an error that all of its kind have, to search messages by. Empty: they have none of four bytes.
func ErrorSearch(reason string) string {
	longest := ""
	for i, part := range strings.Split(masked(reason), mark) {
		if part = strings.TrimSpace(part); i%2 == 0 && len(part) > len(longest) {
			longest = part
		}
	}
	if len(longest) < 4 {
		return ""
	}
	return longest
}
