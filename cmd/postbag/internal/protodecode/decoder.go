package protodecode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// mostNested is how deep messages within messages may be.
const mostNested = 64

// Decoder writes payloads as JSON. It may be used concurrently.
type Decoder struct {
	types *dynamicpb.Types
	names map[string]string
}

// Open reads a file of descriptors, which protoc --descriptor_set_out --include_imports writes. names says which of its messages a
// payload is, by the type or the topic of the message that has it. Every name must be in the file.
func Open(file string, names map[string]string) (*Decoder, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("the descriptors cannot be read: %w; name the file that protoc --descriptor_set_out wrote", err)
	}
	var set descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(data, &set); err != nil || len(set.GetFile()) == 0 {
		return nil, fmt.Errorf("%s holds no descriptors; write it with protoc --descriptor_set_out --include_imports", file)
	}
	files, err := protodesc.NewFiles(&set)
	if err != nil {
		return nil, fmt.Errorf("the descriptors of %s are not whole: %w; write them with protoc --include_imports", file, err)
	}
	d := &Decoder{types: dynamicpb.NewTypes(files), names: names}
	for _, of := range slices.Sorted(maps.Keys(names)) {
		if _, err := d.find(names[of]); err != nil {
			return nil, fmt.Errorf("message_types names %.200q for %.200q, which is not in %s; write the full name of a message, such as shop.v1.Order", names[of], of, file)
		}
	}
	return d, nil
}

func (d *Decoder) find(name string) (protoreflect.MessageType, error) {
	return d.types.FindMessageByName(protoreflect.FullName(name))
}

// Decode writes the payload of a message as JSON. Not ok: the descriptors do not have what it is, or it is not that.
func (d *Decoder) Decode(topic, typ string, payload []byte) (text string, ok bool) {
	name, named := d.names[typ]
	if !named {
		name, named = d.names[topic]
	}
	if !named {
		name = strings.TrimPrefix(typ[strings.LastIndexByte(typ, '/')+1:], ".")
	}
	kind, err := d.find(name)
	if err != nil {
		return "", false
	}
	m := kind.New().Interface()
	if err := (proto.UnmarshalOptions{AllowPartial: true, RecursionLimit: mostNested, Resolver: d.types}).Unmarshal(payload, m); err != nil {
		return "", false
	}
	if isOther(m.ProtoReflect()) {
		return "", false
	}
	out, err := protojson.MarshalOptions{AllowPartial: true, UseProtoNames: true, Resolver: d.types}.Marshal(m)
	if err != nil {
		return "", false
	}
	var compact bytes.Buffer // the library puts spaces in at will
	if err := json.Compact(&compact, out); err != nil {
		return "", false
	}
	return compact.String(), true
}

// isOther says that bytes were read, and that none of them are of a field of the message: it is of another type.
func isOther(m protoreflect.Message) bool {
	known := false
	m.Range(func(protoreflect.FieldDescriptor, protoreflect.Value) bool {
		known = true
		return false
	})
	return !known && len(m.GetUnknown()) > 0
}
