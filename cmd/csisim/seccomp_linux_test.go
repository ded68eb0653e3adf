package main

import (
	"os"

	"github.com/csisim/csisim/internal/world/namespaces/seccomptest"
)

// asContainer runs this program with the seccomp filter that containers have by default.
const asContainer = "CSISIM_TEST_AS_CONTAINER"

func init() {
	if os.Getenv(asContainer) == "" {
		return
	}
	if err := seccomptest.Filter(); err != nil {
		panic(err)
	}
}
