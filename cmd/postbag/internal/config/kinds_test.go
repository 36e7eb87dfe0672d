package config

// testKinds are kinds of components for tests of this package alone.
func testKinds() Kinds {
	return Kinds{
		Stores: []Kind{
			{Name: "postgresql", Schemes: []string{"postgres://", "postgresql://"}},
			{Name: "sqlite", Schemes: []string{"sqlite:", "file:"}},
		},
		Destinations: []Kind{
			{Name: "nats", Schemes: []string{"nats://", "tls://"}, Settings: []string{"stream", "password_env", "password_file", "token_env", "user_env"}},
			{Name: "webhook", Schemes: []string{"https://", "http://"}, Settings: []string{"secrets_env", "allow_private", "timeout"}},
			{Name: "stdout", Schemes: []string{"stdout:"}, NoPlace: true},
		},
	}
}
