package bedrock_test

import (
	"log"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/bedrock"
	"github.com/polywire/polywire/upstream/echo"
)

func ExampleNew() {
	var cfg aws.Config // config.LoadDefaultConfig of github.com/aws/aws-sdk-go-v2/config returns it

	up, err := bedrock.New(&bedrock.Options{
		Region:      cfg.Region,
		Credentials: cfg.Credentials,
		MapModel: func(model string) string {
			if model == "claude-sonnet-4-5" {
				return "eu.anthropic.claude-sonnet-4-5-20250929-v1:0"
			}
			return model
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	http.Handle("/", messages.NewHandler(up, nil))
	server := &http.Server{Addr: "127.0.0.1:8080", ReadHeaderTimeout: 10 * time.Second}
	log.Fatal(server.ListenAndServe())
}

func ExampleNew_key() {
	up, err := bedrock.New(&bedrock.Options{Region: "eu-central-1", Key: os.Getenv("AWS_BEARER_TOKEN_BEDROCK")})
	if err != nil {
		log.Fatal(err)
	}
	http.Handle("/", messages.NewHandler(up, nil))
}

func ExampleHandler() {
	up := echo.New() // any Upstream
	m := messages.NewHandler(up, &messages.Options{HandlerOptions: upstream.HandlerOptions{
		Authenticate: upstream.Keys(os.Getenv("CLIENT_KEY")),
	}})
	http.Handle("/v1/", m)
	http.Handle("/model/", bedrock.Handler(m))
	server := &http.Server{Addr: "127.0.0.1:8080", ReadHeaderTimeout: 10 * time.Second}
	log.Fatal(server.ListenAndServe())
}
