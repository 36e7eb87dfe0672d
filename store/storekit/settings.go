package storekit

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/postbag/postbag/store"
)

// settingRow is one setting of an operator as a store keeps it: in a JSON object, by name.
// Fields that a newer version adds stay, since only whole settings are replaced.
type settingRow struct {
	Value string `json:"value"`
	Who   string `json:"who"`
	Why   string `json:"why"`
	At    int64  `json:"at"`
}

// ParseSettings reads the settings of a subscription, by name. A text that cannot be read,
// and a setting that cannot be, are settings without a value: no relay knows them.
func ParseSettings(text string) []store.Setting {
	if text == "" || text == "{}" {
		return nil
	}
	var rows map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &rows) != nil {
		return []store.Setting{{Name: "unreadable"}}
	}
	out := make([]store.Setting, 0, len(rows))
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		s, row := store.Setting{Name: name}, settingRow{}
		if json.Unmarshal(rows[name], &row) == nil {
			s.Value, s.Who, s.Why, s.At = row.Value, row.Who, row.Why, time.UnixMicro(row.At).UTC()
		}
		out = append(out, s)
	}
	return out
}

// MergeSettings returns the text of the settings once some are set and reset. now is in
// microseconds since 1970. A text that cannot be read is replaced.
func MergeSettings(text string, a store.Audit, now int64, set []store.Setting, reset []string) (string, error) {
	rows := map[string]json.RawMessage{}
	if text != "" && json.Unmarshal([]byte(text), &rows) != nil || rows == nil {
		rows = map[string]json.RawMessage{}
	}
	for _, name := range reset {
		delete(rows, name)
	}
	for i := range set {
		row, err := json.Marshal(settingRow{Value: set[i].Value, Who: Reason(a.Who), Why: Reason(a.Why), At: now})
		if err != nil {
			return "", err
		}
		rows[set[i].Name] = row
	}
	merged, err := json.Marshal(rows)
	return string(merged), err
}

// SettingsText is what the audit log says of settings.
func SettingsText(r store.Ref, set []store.Setting, reset []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "set %s", r)
	for i := range set {
		fmt.Fprintf(&b, " %s=%q", set[i].Name, set[i].Value)
	}
	if len(reset) > 0 {
		b.WriteString(" reset " + strings.Join(reset, ","))
	}
	return Reason(b.String())
}

// AddText is what the audit log says of a subscription that is added.
func AddText(s *store.Spec) string {
	from := "first"
	switch {
	case s.From.Now:
		from = "now"
	case !s.From.At.IsZero():
		from = s.From.At.UTC().Format(time.RFC3339)
	case s.From.After > 0:
		from = fmt.Sprintf("seq %d", s.From.After)
	}
	return Reason(fmt.Sprintf("add %s from %s, %s", s.Ref, from, FilterSetText(s.Ref, s.Filter())))
}
