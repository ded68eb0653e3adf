package main

import (
	"os"

	"github.com/csisim/csisim/internal/world/namespaces/seccomptest"
)

// asContainer holds this program to what a container may do by default.
const asContainer = "CSISIM_TEST_AS_CONTAINER"

func init() {
	if os.Getenv(asContainer) == "" {
		return
	}
	if err := seccomptest.Filter(); err != nil {
		panic(err)
	}
}
