package main

import (
	"os"

	"github.com/csisim/csisim/internal/world/namespaces/seccomptest"
)

func init() {
	if os.Getenv(asContainer) == "" {
		return
	}
	if err := seccomptest.Filter(); err != nil {
		panic(err)
	}
}
