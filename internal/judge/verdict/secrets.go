package verdict

// Secrets is the key of the invariant in this file.
const Secrets Key = "secrets"

var secrets = &Invariant{
	Name:   Secrets,
	Holds:  "the log of a driver's program contains no value of a request's secrets",
	Reason: "logs are kept, copied and read by many people without a right to the keys of the storage",
	Rules:  []string{"csi.proto: csi_secret", "CSI spec: Secrets Requirements"},
	Blame:  Driver,
	Rank:   Breach,
}
