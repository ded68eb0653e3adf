package csiaddons

// volumeReplication: A-VR-2
func volumeReplication() kind {
	source := atomic(object("The source: a PersistentVolumeClaim or a VolumeGroupReplication.", fields{
		"apiGroup": text("The group of its kind."), "kind": text("Its kind."), "name": text("Its name."),
	}, "kind", "name"))
	spec := object("The source and the direction of replication.", fields{
		"volumeReplicationClass": immutable(text("The class."), "volumeReplicationClass is immutable"),
		"replicationState":       replicationState(),
		"dataSource":             immutable(source, "dataSource is immutable"),
		"autoResync":             byDefault(flag("Whether a secondary that is not in sync is resynchronized by force."), false),
		"replicationHandle":      text("The id of a replication that exists."),
	}, "autoResync", "dataSource", "replicationState", "volumeReplicationClass")
	return kind{
		group: ReplicationGroup, name: "VolumeReplication", plural: "volumereplications", short: "vr",
		columns: []column{
			age, {name: "volumeReplicationClass", kind: "string", path: ".spec.volumeReplicationClass"},
			{name: "SourceKind", kind: "string", path: ".spec.dataSource.kind"},
			{name: "SourceName", kind: "string", path: ".spec.dataSource.name"},
			{name: "desiredState", kind: "string", path: ".spec.replicationState"},
			{name: "currentState", kind: "string", path: ".status.state"},
		},
		schema: whole("A VolumeReplication keeps a copy of a volume elsewhere.", spec, object("How far it is.", replicationStatus()), "spec"),
	}
}

func replicationState() schema {
	return choice("The wanted state of this side.", "primary", "secondary", "resync")
}

func replicationStatus() fields {
	return fields{
		"state": text("The state of this side: Primary, Secondary or Unknown."), "message": text("A message for people."), "conditions": conditions(),
		"observedGeneration":  number("int64", "The generation of the spec that was acted upon last."),
		"lastStartTime":       moment("When it was acted upon last."),
		"lastCompletionTime":  moment("When that ended."),
		"lastSyncTime":        moment("When the copies were last alike."),
		"lastSyncBytes":       number("int64", "How much the last synchronization copied."),
		"lastSyncDuration":    text("How long it took."),
		"destinationVolumeID": text("The id of the copy."),
	}
}

// groupReplication: A-VGR-1
func groupReplication() kind {
	expression := object("", fields{
		"key": text("The label."), "operator": text("In, NotIn, Exists or DoesNotExist."),
		"values": atomicList(texts("The values that the operator takes.")),
	}, "key", "operator")
	selector := atomic(object("The labels of the claims.", fields{
		"matchLabels": parameters("Labels with their values."), "matchExpressions": atomicList(list("Expressions on labels.", expression)),
	}))
	source := object("The volumes.", fields{"selector": immutable(selector, "selector is immutable")}, "selector")
	fixed := func(name, description string) schema { return immutable(text(description), name+" is immutable") }
	spec := object("Which volumes are replicated together, and how.", fields{
		"volumeGroupReplicationClassName":   fixed("volumeGroupReplicationClassName", "The class of the group."),
		"volumeReplicationClassName":        fixed("volumeReplicationClassName", "The class of its VolumeReplication."),
		"volumeReplicationName":             fixed("volumeReplicationName", "Its VolumeReplication."),
		"volumeGroupReplicationContentName": fixed("volumeGroupReplicationContentName", "Its VolumeGroupReplicationContent."),
		"source":                            immutable(source, "source is immutable"),
		"replicationState":                  replicationState(),
		"autoResync":                        byDefault(flag("Whether a secondary that is not in sync is resynchronized by force."), false),
		"external":                          immutable(byDefault(flag("Whether another controller takes care of it."), false), "source is immutable"),
	}, "autoResync", "replicationState", "source", "volumeGroupReplicationClassName")
	status := replicationStatus()
	status["persistentVolumeClaimsRefList"] = localReferences("The claims of the group.")
	return kind{
		group: ReplicationGroup, name: "VolumeGroupReplication", plural: "volumegroupreplications", short: "vgr",
		columns: []column{
			{name: "VolumeGroupReplicationClass", kind: "string", path: ".spec.volumeGroupReplicationClassName"},
			{name: "VolumeGroupReplicationContent", kind: "string", path: ".spec.volumeGroupReplicationContentName"},
			{name: "desiredState", kind: "string", path: ".spec.replicationState"},
			{name: "currentState", kind: "string", path: ".status.state"}, age,
		},
		schema: whole("A VolumeGroupReplication keeps a consistent copy of several volumes elsewhere.", spec, object("How far it is.", status)),
	}
}

func atomicList(s schema) schema {
	kind := "atomic"
	s.XListType = &kind
	return s
}

// groupReplicationContent: A-VGR-1
func groupReplicationContent() kind {
	owner := rule(reference("The VolumeGroupReplication that it belongs to."),
		"self != null ? has(self.name) && has(self.__namespace__) && has(self.uid) : true",
		"volumeGroupReplicationRef.name, volumeGroupReplicationRef.namespace and volumeGroupReplicationRef.uid must be set if volumeGroupReplicationRef is defined")
	spec := object("The group.", fields{
		"volumeGroupReplicationRef":       owner,
		"volumeGroupReplicationHandle":    text("The id of the group in the storage system."),
		"provisioner":                     text("The driver."),
		"volumeGroupReplicationClassName": text("The class of the group."),
		"volumeGroupAttributes":           immutable(parameters("The driver's attributes of the group."), "field is immutable"),
		"source":                          object("The volumes.", fields{"volumeHandles": texts("Their ids.")}, "volumeHandles"),
	}, "provisioner", "source", "volumeGroupReplicationClassName")
	volume := object("", fields{
		"name": text("The volume's name."), "volumeHandle": text("Its id."), "destinationVolumeHandle": text("The id of its copy."),
	}, "name", "volumeHandle")
	status := object("The observed state.", fields{
		"persistentVolumeRefList":     localReferences("Deprecated: the volumes of the group."),
		"persistentVolumeMappingList": list("The volumes of the group and their copies.", volume),
		"destinationVolumeGroupID":    text("The id of the group's copy."),
	})
	return kind{
		group: ReplicationGroup, name: "VolumeGroupReplicationContent", plural: "volumegroupreplicationcontents", short: "vgrcontent", cluster: true,
		columns: []column{
			{name: "VolumeGroupReplicationClass", kind: "string", path: ".spec.volumeGroupReplicationClassName"},
			{name: "VolumeGroupReplication", kind: "string", path: ".spec.volumeGroupReplicationRef.name"}, age,
		},
		schema: whole("A VolumeGroupReplicationContent is a group of volumes in the storage system.", spec, status),
	}
}
