package main

import (
	"os"
	"testing"

	"github.com/polywire/polywire/internal/test/leak"
)

func TestMain(m *testing.M) { os.Exit(leak.Main(m)) }
