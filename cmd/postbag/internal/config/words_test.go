package config

import "testing"

type wordy struct {
	testWebhook

	Stream      string `yaml:"stream"`
	ReplicaWait string `yaml:"replica_wait"`
	PasswordEnv string `yaml:"password_env"`
	Since       string `yaml:"since"`
	SkipDeleted bool   `yaml:"skip_deleted"`
	Create      *struct {
		Partitions int `yaml:"partitions"`
	} `yaml:"create"`
}

func wordKinds() Kinds {
	return Kinds{Destinations: []Kind{{Name: "wordy", New: func() Settings { return new(wordy) }}}}
}

func TestErrorsOfLibrariesNameTheSettingsOfTheFile(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`natsbroker: Options.Stream "a b" is no name`:                 `stream "a b" is no name`,
		`redisbroker: Options.ReplicaWait is 1h, and`:                 `replica_wait is 1h, and`,
		"kafkabroker: Options.Create.Partitions is -1; use":           "create.partitions is -1; use",
		"mqttbroker: Options.Login.Password is longer than":           "password is longer than",
		"kafkabroker: Options.Login has only one of":                  "the login has only one of",
		"sqlitestore: open a.db: no such file; or set Options.Create": "sqlitestore: open a.db: no such file; or set create",
		"webhook: Options.URL: address is refused: 127.0.0.1 is loopback; correct the URL, or allow its prefix in Options.AllowPrivate": "url: address is refused: 127.0.0.1 is loopback; correct the URL, or allow its prefix in allow_private",
		"mysqlstore: Options.DDLWait is -1s":                                                               "mysqlstore: Options.DDLWait is -1s",
		"membroker: no such topic; name it in Options.NoSuchSetting":                                       "membroker: no such topic; name it in Options.NoSuchSetting",
		"postbag: no such box; or with the store's Create option":                                          "postbag: no such box; or with create: true in the store (relay --create)",
		"rabbitbroker: fetch: name a stream in StreamOptions.Stream, or take from a queue with OpenSource": "rabbitbroker: fetch: name a stream in stream, or name a queue in place of it",
		"natsbroker: open: update it, or use source.OrderNone":                                             "natsbroker: open: update it, or use order: none",
		"kafkabroker: no offset after SourceOptions.From; set SourceOptions.Reset":                         "kafkabroker: no offset after since; set skip_deleted",
		"membroker: Options.Reset is not a source's":                                                       "membroker: Options.Reset is not a source's",
		"ReceiveOptions.MaxBytes is not ours; AppenderOptions.Notify.":                                     "ReceiveOptions.MaxBytes is not ours; AppenderOptions.Notify.",
	} {
		if got := wordKinds().InSettings(text); got != want {
			t.Errorf("%q is told as %q, want %q", text, got, want)
		}
	}
}

func TestSettingsThatFlagsMadeAreNamedByTheFlags(t *testing.T) {
	t.Parallel()
	flags := map[string]string{"subscriptions[0].order": "--order", "secrets_env": "--secret-env", "log.format": "--log-format"}
	for text, want := range map[string]string{
		`subscriptions[0].order is "foo"; choose one`:          `--order is "foo"; choose one`,
		"name one with secrets_env or secrets_file":            "name one with --secret-env or secrets_file",
		"log.format: wrong":                                    "--log-format: wrong",
		"subscriptions[0].order_by and xlog.format are others": "subscriptions[0].order_by and xlog.format are others",
	} {
		if got := InFlags(text, flags); got != want {
			t.Errorf("%q is told as %q, want %q", text, got, want)
		}
	}
}
