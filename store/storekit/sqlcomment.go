package storekit

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/postbag/postbag/store"
)

// Comments are what follows the statements of each role; empty strings: nothing does. Each
// begins with a space.
type Comments struct{ Relay, Publisher, Consumer string }

// NewComments returns the comments that c asks for. c is valid.
func NewComments(c store.SQLComments) Comments {
	if c.Application == "" {
		return Comments{}
	}
	head := " /*application='" + percent(c.Application) + "',framework='" + percent(framework()) + "',postbag_role='"
	return Comments{Relay: head + "relay'*/", Publisher: head + "publisher'*/", Consumer: head + "consumer'*/"}
}

// percent encodes all but the unreserved characters of RFC 3986, as sqlcommenter has it.
// What is left ends no quotation and no comment, and no driver takes it for a placeholder.
func percent(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// module is the one whose version a comment tells.
const module = "github.com/postbag/postbag"

// framework is postbag and its version, where the program was built with one.
func framework() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "postbag"
	}
	for _, dep := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if dep.Path == module && strings.HasPrefix(dep.Version, "v") && dep.Replace == nil {
			return "postbag:" + dep.Version
		}
	}
	return "postbag"
}
