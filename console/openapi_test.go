package console_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/postbag/postbag/console"
)

// description is what the tests read of the OpenAPI document.
type description struct {
	OpenAPI string
	Servers []struct{ URL string }
	Paths   map[string]struct{ Get, Post described }
}

// described is a route.
type described struct {
	Parameters []struct{ Name, In, Description string }
	Responses  map[string]struct {
		Content map[string]struct{ Schema map[string]any }
	}
	RequestBody struct {
		Content map[string]struct {
			Schema struct {
				Properties map[string]struct{ Description string }
				Required   []string
			}
		}
	}
}

// off says where a value is not as its schema says.
func off(schema map[string]any, v any, at string) (faults []string) {
	if len(schema) == 0 { // any value
		return nil
	}
	kind, _ := schema["type"].(string)
	var is bool
	switch v := v.(type) {
	case map[string]any:
		is = kind == "object"
		properties, _ := schema["properties"].(map[string]any)
		for name, below := range v {
			of, known := properties[name].(map[string]any)
			if !known {
				if of, known = schema["additionalProperties"].(map[string]any); !known {
					faults = append(faults, at+"."+name+" is not described")
					continue
				}
			}
			faults = append(faults, off(of, below, at+"."+name)...)
		}
		required, _ := schema["required"].([]any)
		for _, name := range required {
			if _, there := v[fmt.Sprint(name)]; !there {
				faults = append(faults, fmt.Sprintf("%s.%v is missing", at, name))
			}
		}
	case []any:
		is = kind == "array"
		of, _ := schema["items"].(map[string]any)
		for i, below := range v {
			faults = append(faults, off(of, below, fmt.Sprintf("%s[%d]", at, i))...)
		}
	case string:
		is = kind == "string"
	case float64:
		is = kind == "number" || kind == "integer" && v == float64(int64(v))
	case bool:
		is = kind == "boolean"
	}
	if !is {
		faults = append(faults, fmt.Sprintf("%s is %v, want %s", at, v, kind))
	}
	return faults
}

func TestEveryAnswerIsAsTheDocumentSays(t *testing.T) {
	t.Parallel()
	at := serve(t, console.Options{Payloads: true}, box(t))
	d := into[description](t, at+"/api/v1/openapi.json")
	one := into[console.Messages](t, at+messages+"?limit=1").Messages[0]
	if d.OpenAPI != "3.1.0" || len(d.Paths) != 33 {
		t.Fatalf("the document is of version %s, and has %d paths", d.OpenAPI, len(d.Paths))
	}
	if len(d.Servers) != 1 || d.Servers[0].URL != "../.." {
		t.Errorf("the paths are below %v", d.Servers)
	}
	for format, kind := range map[string]string{"ndjson": "application/x-ndjson", "csv": "text/csv"} {
		response, _ := get(t, at+messages+"?format="+format)
		named, _, _ := strings.Cut(response.Header.Get("Content-Type"), ";")
		if _, is := d.Paths["/api/v1/databases/{database}/boxes/{box}/messages"].Get.Responses["200"].Content[kind]; !is || named != kind {
			t.Errorf("an export as %s is %s, which the document does not name", format, named)
		}
	}
	for path, item := range d.Paths {
		if item.Get.Responses == nil {
			continue // a command
		}
		if _, streams := item.Get.Responses["200"].Content["text/event-stream"]; streams { // it has no end
			continue
		}
		address := at + strings.NewReplacer("{database}", "shop", "{box}", "outbox", "{subscription}", "default", "{id}", one.ID.String(), "{operation}", "1").Replace(path)
		got := into[any](t, address)
		if faults := off(item.Get.Responses["200"].Content["application/json"].Schema, got, ""); len(faults) > 0 {
			t.Errorf("%s: %s", path, strings.Join(faults, "\n"))
		}
		for _, p := range item.Get.Parameters {
			if p.In != "query" {
				continue
			}
			if _, body := get(t, address+"?"+url.Values{p.Name: {"x"}}.Encode()); strings.Contains(body, "there is no parameter") || p.Description == "" {
				t.Errorf("%s: the parameter %s is described as %q, and refused: %s", path, p.Name, p.Description, body)
			}
		}
		response, body := get(t, address+"?nonsense=1")
		var failure any
		if err := json.Unmarshal([]byte(body), &failure); err != nil || response.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: a parameter that is not described gets %s: %v", path, response.Status, err)
		}
		if faults := off(item.Get.Responses["default"].Content["application/json"].Schema, failure, ""); len(faults) > 0 {
			t.Errorf("%s: %s", path, strings.Join(faults, "\n"))
		}
	}
}
