package live

import (
	"testing"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

func TestMain(m *testing.M) { clitest.Main(m, nil) }
