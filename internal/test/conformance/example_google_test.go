package conformance

import (
	"context"
	"fmt"

	"golang.org/x/oauth2/google"

	"github.com/polywire/polywire/upstream/anthropic"
	"github.com/polywire/polywire/upstream/gemini"
)

// googleToken returns a function that returns an access token of Google Cloud, with the
// credentials of the machine or of a service account: see [google.DefaultTokenSource]. A
// token is renewed when it expires.
func googleToken(ctx context.Context) (func(context.Context) (string, error), error) {
	source, err := google.DefaultTokenSource(ctx, "https://www.googleapis.com/auth/cloud-platform")
	if err != nil {
		return nil, err
	}
	return func(context.Context) (string, error) {
		token, err := source.Token()
		if err != nil {
			return "", err
		}
		return token.AccessToken, nil
	}, nil
}

// Claude and Gemini on Google Cloud.
func Example_google() {
	token, err := googleToken(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	claude, err := anthropic.New(&anthropic.Options{
		Platform: anthropic.PlatformVertex, Project: "my-project", Location: "global", KeyFunc: token,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	model, err := gemini.New(&gemini.Options{Project: "my-project", Location: "europe-west4", KeyFunc: token})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, _ = claude, model // see messages.NewHandler and generatecontent.NewHandler
}
