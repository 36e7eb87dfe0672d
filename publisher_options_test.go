package postbag

import (
	"context"
	"strings"
	"testing"
)

func TestNewPublisherReportsAllBadOptionsAtOnce(t *testing.T) {
	t.Parallel()
	_, err := NewPublisher[*testTx](nil, PublisherOptions{
		Box:     "Not A Box",
		MaxSize: -1,
		Headers: map[string]string{"Postbag-X": canary, "b\xff": "", "big": canary + strings.Repeat("v", MaxHeader)},
	})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"postbag: new publisher:\n",
		"postbag: the store is nil; open one",
		`postbag: PublisherOptions.Box: postbag: box name "Not A Box"`,
		"postbag: PublisherOptions.MaxSize is -1; give bytes up to 16777216, or zero for 1048576",
		`postbag: PublisherOptions.Headers["Postbag-X"] begins with Postbag-`,
		`postbag: PublisherOptions.Headers["b\xff"] has a name that is not valid UTF-8; `,
		"postbag: PublisherOptions.Headers holds 65581 bytes, 65536 allowed; ",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error lacks %q:\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), canary) {
		t.Errorf("error quotes a header's value:\n%v", err)
	}
}

func TestEachBadOptionIsRefused(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]PublisherOptions{
		"a reserved box":            {Box: "order"},
		"a box with a schema":       {Box: "postbag.outbox"},
		"a size that no box takes":  {MaxSize: MaxPayload + 1},
		"a negative size":           {MaxSize: -1},
		"a header without a name":   {Headers: map[string]string{"": "x"}},
		"a header value with a NUL": {Headers: map[string]string{"h": "\x00"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if p, err := NewPublisher(&recording{}, o); err == nil || p != nil {
				t.Errorf("NewPublisher = %v, %v", p, err)
			}
		})
	}
}

func TestAStoreThatIsANilPointerIsRefused(t *testing.T) {
	t.Parallel()
	var r *recording
	if _, err := NewPublisher(r, PublisherOptions{}); err == nil || !strings.Contains(err.Error(), "the store is nil") {
		t.Errorf("error is %v", err)
	}
}

func TestGoodOptionsAreTaken(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]PublisherOptions{
		"none": {},
		"all": {
			Box: "events", MaxSize: MaxPayload, ValidateJSON: true, Headers: map[string]string{"h": "v"},
			Context: func(context.Context, map[string]string) {},
			Wrap:    func(next PublishFunc) PublishFunc { return next },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := NewPublisher(&recording{}, o); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestTheOptionsHeadersAreCopied(t *testing.T) {
	t.Parallel()
	headers := map[string]string{"h": "before"}
	p, r := newTestPublisher(t, PublisherOptions{Headers: headers})
	headers["h"], headers["late"] = "after", "x"
	if err := p.Publish(t.Context(), &testTx{}, Message{}); err != nil {
		t.Fatal(err)
	}
	if got := r.only(t)[0].Headers; len(got) != 1 || got["h"] != "before" {
		t.Errorf("headers are %v", got)
	}
}
