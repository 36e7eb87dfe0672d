package console

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/postbag/postbag"
)

// openAPI answers with the description of the API. It is made of the routes and of the types that they answer with.
func (*console) openAPI(w http.ResponseWriter, _ *http.Request) error { return answer(w, document()) }

type object = map[string]any

// document is the OpenAPI document.
func document() object {
	paths := object{}
	for _, r := range routes() {
		if r.about != "" {
			paths[r.path] = object{strings.ToLower(r.verb()): operation(&r)}
		}
	}
	return object{
		"openapi": "3.1.0",
		"info":    object{"title": "Postbag console", "version": "1", "description": "What Postbag's console shows, as JSON, and the commands that it takes."},
		"servers": []object{{"url": "../.."}}, // from where the document is
		"paths":   paths,
	}
}

func operation(r *route) object {
	parameters := []object{}
	for part := range strings.SplitSeq(r.path, "/") {
		if name, is := strings.CutPrefix(part, "{"); is {
			parameters = append(parameters, object{"name": strings.TrimSuffix(name, "}"), "in": "path", "required": true, "schema": object{"type": "string"}})
		}
	}
	for _, p := range r.takes {
		of := object{"type": "string"}
		if p.name == r.repeats {
			of = object{"type": "array", "items": of}
		}
		parameters = append(parameters, object{"name": p.name, "in": "query", "description": p.about, "schema": of})
	}
	described := object{
		"summary": r.about, "description": "Needs the role " + r.needs.String() + " " + scope(r) + ", if the console has a login.", "parameters": parameters,
		"responses": object{
			"200":     answerOf("The answer.", r.answer, r.exports...),
			"default": answerOf("Why there is none.", Failure{}),
		},
	}
	if len(r.form) > 0 {
		described["requestBody"] = formOf(r.form)
	}
	return described
}

// formOf describes the form of a command.
func formOf(fields []parameter) object {
	properties := object{}
	for _, f := range fields {
		properties[f.name] = object{"type": "string", "description": f.about}
	}
	return object{"required": true, "content": object{
		"application/x-www-form-urlencoded": object{"schema": object{"type": "object", "properties": properties, "required": []string{"do", "why"}, "additionalProperties": false}},
	}}
}

// answerOf describes an answer that is v, or a text of other kinds.
func answerOf(about string, v any, exports ...string) object {
	content := object{}
	if v != nil {
		content["application/json"] = object{"schema": schema(reflect.TypeOf(v))}
	}
	for _, kind := range exports {
		content[kind] = object{"schema": object{"type": "string"}}
	}
	return object{"description": about, "content": content}
}

// schema describes how encoding/json writes a type.
func schema(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case reflect.TypeFor[postbag.ID]():
		return object{"type": "string", "format": "uuid"}
	case reflect.TypeFor[json.RawMessage]():
		return object{} // any value
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schema(t.Elem())
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Int64, reflect.Int32:
		return object{"type": "integer"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Slice:
		return object{"type": "array", "items": schema(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": schema(t.Elem())}
	case reflect.Struct:
		properties, required := object{}, []string{}
		fields(t, properties, &required)
		return object{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
	default:
		return object{"type": "string"}
	}
}

// fields adds the fields of a struct, and those of the structs that it embeds.
func fields(t reflect.Type, properties object, required *[]string) {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			fields(f.Type, properties, required)
		case !f.IsExported() || name == "-":
		default:
			if name == "" {
				name = f.Name
			}
			properties[name] = schema(f.Type)
			if !strings.Contains(options, "omit") {
				*required = append(*required, name)
			}
		}
	}
}
