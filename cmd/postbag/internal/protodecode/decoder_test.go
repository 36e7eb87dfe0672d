package protodecode_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/postbag/postbag/cmd/postbag/internal/protodecode"
)

// descriptors writes a file with the message shop.v1.Order: string id = 1, int64 total = 2.
func descriptors(t *testing.T) string {
	t.Helper()
	field := func(name string, number int32, kind descriptorpb.FieldDescriptorProto_Type) *descriptorpb.FieldDescriptorProto {
		return &descriptorpb.FieldDescriptorProto{
			Name: new(name), Number: new(number), Type: kind.Enum(), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
		}
	}
	set := &descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{{
		Name: new("shop.proto"), Package: new("shop.v1"), Syntax: new("proto3"),
		MessageType: []*descriptorpb.DescriptorProto{{Name: new("Order"), Field: []*descriptorpb.FieldDescriptorProto{
			field("id", 1, descriptorpb.FieldDescriptorProto_TYPE_STRING), field("total_cents", 2, descriptorpb.FieldDescriptorProto_TYPE_INT64),
		}}},
	}}}
	return file(t, set)
}

func file(t *testing.T, set *descriptorpb.FileDescriptorSet) string {
	t.Helper()
	data, err := proto.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "shop.binpb")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestAPayloadIsWrittenAsJSONByItsType(t *testing.T) {
	t.Parallel()
	d, err := protodecode.Open(descriptors(t), map[string]string{"order.created": "shop.v1.Order", "orders": "shop.v1.Order"})
	if err != nil {
		t.Fatal(err)
	}
	const payload = "\x0a\x02a1\x10\x96\x01"
	for _, c := range []struct{ topic, typ, payload, want string }{
		{"t", "shop.v1.Order", payload, `{"id":"a1","total_cents":"150"}`},
		{"t", "type.googleapis.com/shop.v1.Order", payload, `{"id":"a1","total_cents":"150"}`},
		{"t", "order.created", payload, `{"id":"a1","total_cents":"150"}`},
		{"orders", "", payload, `{"id":"a1","total_cents":"150"}`},
		{"t", "shop.v1.Order", "", `{}`},
		{"t", "shop.v1.Other", payload, ""},
		{"t", "", payload, ""},
		{"t", "shop.v1.Order", "{}", ""},
		{"t", "shop.v1.Order", "\x0a\x7f", ""},
		{"t", "shop.v1.Order", "\x18\x01", ""}, // a field that it has not, and nothing else
	} {
		if got, ok := d.Decode(c.topic, c.typ, []byte(c.payload)); got != c.want || ok != (c.want != "") {
			t.Errorf("%q of %q/%q is %q, %v; want %q", c.payload, c.topic, c.typ, got, ok, c.want)
		}
	}
}

func TestAFileThatHoldsNoDescriptorsIsRefused(t *testing.T) {
	t.Parallel()
	lacking := file(t, &descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{{Name: new("a.proto"), Dependency: []string{"b.proto"}}}})
	for name, c := range map[string]struct {
		file  string
		names map[string]string
		want  string
	}{
		"no file":         {filepath.Join(t.TempDir(), "none"), nil, "cannot be read"},
		"another file":    {"decoder_test.go", nil, "holds no descriptors"},
		"empty":           {file(t, &descriptorpb.FileDescriptorSet{}), nil, "holds no descriptors"},
		"without imports": {lacking, nil, "--include_imports"},
		"an unknown name": {descriptors(t), map[string]string{"a": "shop.v1.Gone"}, "shop.v1.Gone"},
	} {
		if _, err := protodecode.Open(c.file, c.names); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: the error is %v, not one that says %s", name, err, c.want)
		}
	}
}
