package config

import (
	"encoding"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/postbag/postbag/cmd/postbag/internal/duration"
)

// scalarText is a type that is written as one word.
type scalarText = netip.Prefix

// scalar fills v from a single value.
func (b *binder) scalar(path string, n ast.Node, v reflect.Value) {
	text, ok := textOf(n)
	if !ok {
		b.line(lineOf(n), path+" is a list or a mapping; write a single value")
		return
	}
	plain := n.Type() != ast.StringType && n.Type() != ast.LiteralType
	isName := !b.entry && (strings.HasSuffix(path, "_env") || strings.HasSuffix(trimIndex(path), "_env")) // of a variable
	if !isName && !b.literal {
		b.left = false
		expanded, changed, fix := b.expand(text)
		if fix != "" {
			b.line(lineOf(n), path+" "+fix)
			return
		}
		delete(b.later, path)
		if b.left {
			b.later[path] = true
			if v.Kind() != reflect.String {
				return // it is not known what it will be
			}
		}
		text, plain = expanded, plain || changed
	}
	fix := setScalar(v, text, plain)
	if b.exact && !plain && fix == "" && v.Kind() == reflect.String {
		v.SetString(text)
	}
	if fix != "" {
		b.line(lineOf(n), path+" "+fix)
	}
}

// textOf returns what stands in the file for a single value.
func textOf(n ast.Node) (string, bool) {
	switch node := n.(type) {
	case *ast.StringNode:
		return node.Value, true
	case *ast.LiteralNode:
		return strings.TrimSuffix(node.Value.Value, "\n"), true
	case ast.ScalarNode:
		return node.GetToken().Value, true
	}
	return "", false
}

// setScalar sets v, or returns what is wrong and how to fix it. Text that is plain stood
// there without quotation marks.
func setScalar(v reflect.Value, text string, plain bool) string {
	if v.Type() == reflect.TypeFor[time.Duration]() {
		d, err := duration.Parse(text)
		if err != nil || text == "0" {
			return "is no duration; write " + duration.Forms
		}
		v.SetInt(int64(d))
		return ""
	}
	if s, ok := reflect.TypeAssert[*Size](v.Addr()); ok {
		if err := s.UnmarshalText([]byte(text)); err != nil {
			return err.Error()
		}
		return ""
	}
	if u, ok := reflect.TypeAssert[encoding.TextUnmarshaler](v.Addr()); ok {
		if u.UnmarshalText([]byte(text)) != nil {
			return "is no range of addresses; write it as 10.0.0.0/8 or 127.0.0.1/32"
		}
		return ""
	}
	switch v.Kind() {
	case reflect.String:
		if strings.ContainsRune(text, 0) {
			return "holds a NUL character; leave it out"
		}
		v.SetString(strings.TrimSpace(text))
	case reflect.Int:
		i, err := strconv.Atoi(strings.ReplaceAll(text, "_", ""))
		if err != nil {
			return "is no whole number, or too large; write it in digits"
		}
		v.SetInt(int64(i))
	case reflect.Float64:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || f != f {
			return "is no number; write it in digits"
		}
		v.SetFloat(f)
	case reflect.Bool:
		if !plain || !slices.Contains([]string{"true", "false"}, strings.ToLower(text)) {
			return "is neither true nor false; write one of them"
		}
		v.SetBool(strings.EqualFold(text, "true"))
	default:
	}
	return ""
}
