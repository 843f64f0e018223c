module github.com/polywire/polywire/internal/test/openresponses

go 1.26

require (
	github.com/google/go-cmp v0.7.0
	github.com/polywire/polywire v0.0.0-00010101000000-000000000000
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3
	github.com/tidwall/gjson v1.20.0
)

require (
	github.com/tidwall/match v1.1.1 // indirect
	github.com/tidwall/pretty v1.2.0 // indirect
	github.com/tidwall/sjson v1.2.5 // indirect
	golang.org/x/text v0.14.0 // indirect
)

replace github.com/polywire/polywire => ../../..
