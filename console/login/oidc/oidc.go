package oidc

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/postbag/postbag/console/login"
)

// Options say which provider, and what of its tokens counts.
type Options struct {
	// Issuer is the provider's address, as it names itself. Required.
	Issuer string
	// ClientID is the name that it gave the console. A token of another audience is refused. Required.
	ClientID string
	// Secret is the one that goes with it. Empty: there is none.
	Secret string
	// URL is the console's address as browsers see it. The provider sends them to /callback below it. Required.
	URL string
	// Scopes are asked for beside openid. Nil: email.
	Scopes []string
	// NameClaim has the name of a user of the access file. Empty: email, which the provider must have verified.
	NameClaim string
	// GroupsClaim has the groups. Empty: groups.
	GroupsClaim string
	// Client asks the provider. Nil: one with a time-out of ten seconds.
	Client *http.Client
}

// Provider is one of OpenID Connect. It may be used concurrently.
type Provider struct {
	o Options

	mu    sync.Mutex
	known *oidc.Provider // nil: it was not reached yet
}

// New makes a provider. It is asked at the first login, so a console starts while it is away.
func New(o Options) (*Provider, error) {
	if o.Issuer == "" || o.ClientID == "" || o.URL == "" {
		return nil, errors.New("oidc: Issuer, ClientID and URL are required; one is empty")
	}
	if o.Scopes == nil {
		o.Scopes = []string{"email"}
	}
	if o.NameClaim == "" {
		o.NameClaim = "email"
	}
	if o.GroupsClaim == "" {
		o.GroupsClaim = "groups"
	}
	if o.Client == nil {
		o.Client = &http.Client{Timeout: 10 * time.Second}
	}
	return &Provider{o: o}, nil
}

// provider reads what the provider says of itself, once. Its keys are read again when a token has a new one.
func (p *Provider) provider(ctx context.Context) (*oidc.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil {
		known, err := oidc.NewProvider(oidc.ClientContext(ctx, p.o.Client), p.o.Issuer)
		if err != nil {
			return nil, err
		}
		p.known = known
	}
	return p.known, nil
}

func (p *Provider) config(known *oidc.Provider) *oauth2.Config {
	return &oauth2.Config{
		ClientID: p.o.ClientID, ClientSecret: p.o.Secret, Endpoint: known.Endpoint(),
		RedirectURL: strings.TrimSuffix(p.o.URL, "/") + "/callback",
		Scopes:      append([]string{oidc.ScopeOpenID}, p.o.Scopes...),
	}
}

// Address is where a browser goes to log in.
func (p *Provider) Address(ctx context.Context, a login.Attempt) (string, error) {
	known, err := p.provider(ctx)
	if err != nil {
		return "", err
	}
	return p.config(known).AuthCodeURL(a.State, oidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier)), nil
}

// Finish trades the code for a token, and checks its signature, issuer, audience, times and nonce.
func (p *Provider) Finish(ctx context.Context, a login.Attempt, answer url.Values) (login.Identity, error) {
	if answer.Get("state") != a.State || a.State == "" {
		return login.Identity{}, errors.New("oidc: the state is of another login")
	}
	if reason := answer.Get("error"); reason != "" {
		return login.Identity{}, fmt.Errorf("oidc: the provider says %.80q; see its log", reason)
	}
	known, err := p.provider(ctx)
	if err != nil {
		return login.Identity{}, err
	}
	ctx = oidc.ClientContext(ctx, p.o.Client)
	tokens, err := p.config(known).Exchange(ctx, answer.Get("code"), oauth2.VerifierOption(a.Verifier))
	if err != nil {
		return login.Identity{}, withoutBody(err)
	}
	raw, _ := tokens.Extra("id_token").(string)
	token, err := known.Verifier(&oidc.Config{ClientID: p.o.ClientID}).Verify(ctx, raw)
	if err != nil {
		return login.Identity{}, fmt.Errorf("oidc: the token is refused: %w", err)
	}
	if token.Nonce != a.Nonce {
		return login.Identity{}, errors.New("oidc: the token is of another login: its nonce differs")
	}
	return p.identity(token)
}

// withoutBody leaves out what the provider answered to the code: it may quote secrets.
func withoutBody(err error) error {
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		return fmt.Errorf("oidc: the provider refuses the code: %s %.80q", refused.Response.Status, refused.ErrorCode)
	}
	return fmt.Errorf("oidc: the provider cannot be asked for the token: %w", err)
}

// identity reads the claims that count.
func (p *Provider) identity(token *oidc.IDToken) (who login.Identity, err error) {
	var claims map[string]any
	if err := token.Claims(&claims); err != nil {
		return who, fmt.Errorf("oidc: the token cannot be read: %w", err)
	}
	if azp, _ := claims["azp"].(string); azp != "" && azp != p.o.ClientID || azp == "" && len(token.Audience) > 1 {
		return who, errors.New("oidc: the token was made for another client")
	}
	who.Name, _ = claims[p.o.NameClaim].(string)
	if p.o.NameClaim == "email" && claims["email_verified"] != true {
		return who, errors.New("oidc: the provider has not verified the email; have it do so, or set another name_claim")
	}
	if who.Name == "" {
		return who, fmt.Errorf("oidc: the token has no text in the claim %s; set name_claim, or ask for a scope that has it", p.o.NameClaim)
	}
	switch groups := claims[p.o.GroupsClaim].(type) {
	case string:
		who.Groups = []string{groups}
	case []any:
		for _, one := range groups {
			if group, ok := one.(string); ok && !slices.Contains(who.Groups, group) {
				who.Groups = append(who.Groups, group)
			}
		}
	}
	return who, nil
}
