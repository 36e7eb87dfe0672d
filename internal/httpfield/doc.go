// Package httpfield knows which header fields HTTP carries as they are, and which
// of them servers and proxies obey.
package httpfield
