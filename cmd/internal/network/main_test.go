package network_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/csisim/csisim/internal/world/namespaces"
)

func TestMain(m *testing.M) {
	namespaces.Enter()
	goleak.VerifyTestMain(m)
}
