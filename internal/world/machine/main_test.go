package machine_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/csisim/csisim/internal/world/namespaces"
)

func TestMain(m *testing.M) {
	if role := os.Getenv("MACHINE_TEST_ROLE"); role != "" {
		play(role)
		return
	}
	namespaces.Enter()
	goleak.VerifyTestMain(m)
}
