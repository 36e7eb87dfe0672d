package config

import (
	"fmt"
	"reflect"
	"strings"
)

// kept are settings of a subscription that the store keeps, or that name it.
var kept = map[string]bool{"name": true, "store": true, "box": true, "from": true, "types": true, "where": true, "shards": true}

// Settings returns what a file says of a subscription's policy, as name and value; those of a part
// with its name before them. Values of headers are left out.
func (s *Subscription) Settings() [][2]string { return settingsOf("", reflect.ValueOf(s).Elem()) }

func settingsOf(prefix string, v reflect.Value) (out [][2]string) {
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
		f := v.Field(i)
		switch {
		case name == "" || f.IsZero() || prefix == "" && kept[name]:
		case f.Kind() == reflect.Struct:
			out = append(out, settingsOf(prefix+name+".", f)...)
		case f.Kind() == reflect.Map, f.Kind() == reflect.Slice && f.Type().Elem().Kind() == reflect.Struct:
			out = append(out, [2]string{prefix + name, fmt.Sprintf("%d entries", f.Len())})
		case f.Type() == reflect.TypeFor[*DeadTo]():
			out = append(out, settingsOf(prefix+name+".", f.Elem())...)
		case f.Kind() == reflect.Pointer:
			out = append(out, [2]string{prefix + name, "as the file says"})
		default:
			out = append(out, [2]string{prefix + name, fmt.Sprint(f.Interface())})
		}
	}
	return out
}
