// Package protodecode writes payloads of protocol buffers as JSON, by a file of descriptors.
package protodecode
