package postbag

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Codec turns values into payloads and back. Implementations are safe for
// concurrent use.
type Codec interface {
	// Marshal returns the payload for v. The caller owns it.
	Marshal(v any) ([]byte, error)
	// Unmarshal reads data into what v points to. It keeps nothing of data.
	Unmarshal(data []byte, v any) error
}

// JSONCodec is encoding/json, with its rules and struct tags. The zero value is
// ready.
type JSONCodec struct{}

// Marshal is json.Marshal.
func (JSONCodec) Marshal(v any) ([]byte, error) { return json.Marshal(v) }

// Unmarshal is json.Unmarshal. It ignores unknown fields, so that the sender can add
// some.
func (JSONCodec) Unmarshal(data []byte, v any) error { return json.Unmarshal(data, v) }

// RawCodec is for an Event[[]byte] whose payloads are encoded elsewhere: it takes
// and returns the bytes as they are. The zero value is ready.
type RawCodec struct{}

var errRaw = errors.New("postbag: RawCodec takes []byte only; use it with Event[[]byte], or choose another codec")

// Marshal returns v, which is a []byte, without copying it.
func (RawCodec) Marshal(v any) ([]byte, error) {
	b, ok := v.([]byte)
	if !ok {
		return nil, errRaw
	}
	return b, nil
}

// Unmarshal sets v, which is a *[]byte, to a copy of data.
func (RawCodec) Unmarshal(data []byte, v any) error {
	b, ok := v.(*[]byte)
	if !ok {
		return errRaw
	}
	*b = bytes.Clone(data)
	return nil
}

// codecReason says what a codec's error is, without what it may quote of the
// data: the JSON package's errors by type and place, others by their Go type.
func codecReason(err error) string {
	var (
		syntax *json.SyntaxError
		value  *json.UnmarshalTypeError
		kind   *json.UnsupportedTypeError
	)
	switch {
	case errors.Is(err, errRaw):
		return errRaw.Error()
	case errors.As(err, &syntax):
		return fmt.Sprintf("the JSON is broken at byte %d", syntax.Offset)
	case errors.As(err, &value):
		return fmt.Sprintf("the JSON at byte %d does not fit Go type %v", value.Offset, value.Type)
	case errors.As(err, &kind):
		return fmt.Sprintf("JSON cannot hold Go type %v", kind.Type)
	}
	return fmt.Sprintf("the codec says %T, whose text may quote data: see errors.Unwrap", err)
}
