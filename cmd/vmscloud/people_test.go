package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/scripts/harness"
	"vmsbridge/uplink/vms"
)

// A program lists the users and accounts that the rules let its user see, with what it includes.
func TestUsersAndAccountsAreListed(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	code, out, _ := c.as("asu@a.org", "PUT", "/g/user",
		map[string]any{"first_name": "Rita", "last_name": "Ude", "email": "ru@a.org"})
	require.Equal(t, 200, code, "%v", out)
	c.begin("ru@a.org")
	admin, ru, root := c.bearer("asu@a.org"), c.bearer("ru@a.org"), c.bearer("root@example.org")
	rita := out["id"].(string)
	self := func(token string) (u vms.User) {
		t.Helper()
		code, body := c.api(token, "GET",
			"/api/v3.0/users/self?include=permissions,status,loginDetails,timeZone,effectivePermissions,timeSettings",
			"")
		require.Equal(t, 200, code, body)
		require.NoError(t, json.Unmarshal([]byte(body), &u))
		return u
	}
	me := self(admin)
	require.True(t, me.Permissions.Administrator)
	require.Equal(t, vms.LoginActive, me.Status.LoginStatus)
	require.NotNil(t, me.LoginDetails.LastLogin)
	require.False(t, self(ru).Permissions.Administrator)
	require.True(t, self(ru).Permissions.ViewLiveVideo)
	require.Equal(t, vms.Changeable{Read: true, Edit: true}, *me.EffectivePermissions)
	for query, want := range map[string][]string{
		"":                                {me.ID, rita},
		"id__in=" + rita + ",x":           {rita},
		"firstName__in=rita":              {rita},
		"lastName__contains=UD":           {rita},
		"email__contains=asu@":            {me.ID},
		"q=rita%20a.org":                  {rita},
		"permissions.administrator=true":  {me.ID},
		"permissions.administrator=false": {rita},
		"status.loginStatus__in=pending":  nil,
		"sort=-firstName":                 {rita, me.ID},
		"sort=%2BfirstName":               {me.ID, rita},
	} {
		require.Equal(t, want, c.list(admin, "users?"+query), query)
	}
	_, body := c.api(admin, "GET", "/api/v3.0/users/"+rita+"?include=effectivePermissions", "")
	require.JSONEq(t, `{"id":"`+rita+`","firstName":"Rita","lastName":"Ude","accountId":"`+c.accounts["a"]+`","email":"ru@a.org","language":"en-us","employeeId":"",
		"createTimestamp":`+textOf(t, body, "createTimestamp")+`,"effectivePermissions":{"read":true,"edit":true,"delete":true}}`, body)
	for path, want := range map[string]int{"users": 403, "users/" + rita: 200, "users/" + me.ID: 404, "users/none": 404,
		"users?zebra=1": 403} {
		code, body := c.api(ru, "GET", "/api/v3.0/"+path, "")
		require.Equal(t, want, code, "%s: %s", path, body)
	}
	// Accounts: one's own, and those below it for who may enter them.
	require.Equal(t, []string{c.accounts["a"]}, c.list(admin, "accounts"))
	require.Equal(t, []string{c.accounts["a"]}, c.list(ru, "accounts"))
	require.ElementsMatch(t, []string{c.main, c.accounts["a"], c.accounts["b"]}, c.list(root, "accounts"))
	require.Equal(t, []string{c.accounts["b"]}, c.list(root, "accounts?name__contains=ACCOUNT%20b"))
	_, body = c.api(admin, "GET", "/api/v3.0/accounts/self?include=resourceCounts,security,timeZone,workingHours", "")
	var account vms.Account
	require.NoError(t, json.Unmarshal([]byte(body), &account))
	require.Equal(t, vms.ResourceCounts{Cameras: 1, Bridges: 1, Users: 2}, *account.ResourceCounts)
	require.Equal(t, "UTC", account.TimeZone.TimeZone)
	require.Equal(t, "08:00", account.WorkingHours.Hours.Start)
	require.NotNil(t, account.Security)
	_, body = c.api(ru, "GET", "/api/v3.0/accounts/"+c.accounts["a"]+"?include=security", "")
	require.NotContains(t, body, "security", "that is for who may edit the account")
}

// Users change their own name, language and time zone; the change is seen by all that reads it, and
// in the trail. What signs them in or what they may do is refused, and of several things wrong each
// is named.
func TestUsersChangeThemselves(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	const self = "/api/v3.0/users/self"
	token := c.bearer("asu@a.org")
	code, body := c.api(token, "PATCH", self,
		`{"firstName":"Zoë","lastName":"Ray","language":"ja","timeZone":{"timeZone":"Asia/Tokyo"}}`)
	require.Equal(t, 204, code, body)
	require.Empty(t, body)
	var u vms.User
	_, body = c.api(token, "GET", self+"?include=timeZone", "")
	require.NoError(t, json.Unmarshal([]byte(body), &u))
	require.Equal(t, []string{"Zoë", "Ray", "ja", "Asia/Tokyo", "asu@a.org"},
		[]string{u.FirstName, u.LastName, u.Language, u.TimeZone.TimeZone, u.Email})
	_, out, _ := c.as("asu@a.org", "GET", "/g/user", nil)
	require.Equal(t, "Zoë", out["first_name"])
	require.Equal(t, "Asia/Tokyo", out["timezone"])
	harness.Until(t, "its event is made of the trail", func() bool {
		_, body := c.api(token, "GET", "/api/v3.0/events?actor=user:"+u.ID+
			"&startTimestamp__gte=2026-01-01T00:00:00Z&endTimestamp__lte=2099-01-01T00:00:00Z", "")
		return strings.Contains(body, "vms.userUpdateEvent.v1")
	})
	for sent, want := range map[string]string{
		`{}`:                           "Missing required arguments: firstName, lastName, language or timeZone",
		`{"email":"x@a.org"}`:          "Unexpected argument: email",
		`{"permissions":{}}`:           "Unexpected argument: permissions",
		`{"firstName":""}`:             "firstName: must not be empty",
		`{"firstName":null}`:           "firstName: must not be null",
		`{"lastName":7}`:               "lastName",
		`{"language":"zebra!"}`:        "language: must look like en-us",
		`[]`:                           "Invalid JSON",
		`{"timeZone":{"timeZone":""}}`: "timeZone: must be a timezone",
		`{"firstName":"","timeZone":{"timeZone":"Moon/Base"}}`: "timeZone: must be a timezone",
	} {
		code, body := c.api(token, "PATCH", self, sent)
		require.Equal(t, 400, code, "%s: %s", sent, body)
		require.Contains(t, body, want, sent)
	}
	nobody := c.must("token", "create", "--kind", "bridge", "--account", c.accounts["a"], "--scope", "vms.all",
		"--quiet")
	code, body = c.api(nobody, "PATCH", self, `{"firstName":"Eve"}`)
	require.Equal(t, 403, code, body)
	require.Contains(t, body, "stands for no user")
	_, after := c.api(token, "GET", self, "")
	require.Contains(t, after, `"firstName":"Zoë"`, "what was refused changed nothing")
}

// What a site does not have is an empty list, and its cameras have image feeds.
func TestFeedsAndEmptyLists(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	token := c.bearer("asu@a.org")
	code, body := c.api(token, "GET", "/api/v3.0/feeds?deviceId=cam-a&include=hlsUrl,webRtcUrl,zebra", "")
	require.Equal(t, 200, code, body)
	require.JSONEq(t, `{"results":[{"id":"cam-a-main","type":"main","deviceId":"cam-a","mediaType":"image","hlsUrl":null,"webRtcUrl":null},
		{"id":"cam-a-preview","type":"preview","deviceId":"cam-a","mediaType":"image","hlsUrl":null,"webRtcUrl":null}],"nextPageToken":"","prevPageToken":"","totalSize":2}`, body)
	require.Equal(t, []string{"cam-a-preview"}, c.list(token, "feeds?type=preview"))
	for _, path := range []string{"alerts?timestamp__gte=2026-01-01T00:00:00.000Z&actorId__in=cam-a",
		"alerts?actorType__in=camera&ruleId__in=x&showInvalidAlerts=true&alertActionStatus__in=fired",
		"alertActions?enabled=true&type__in=smtp", "alertConditionRules?inputEventType__in=x&outputAlertType=x",
		"alertTypes?language=en", "notifications?read=false&includeV1Notifications=true",
		"roles?include=permissions,notes,assignable,userCount",
		"roleAssignments?roleId__in=x", "users/self/trustedClients?include=device",
		"jobs?userId=u&type=main&type__in=main&state=success", "files?directory=/&sort=-createTimestamp", "downloads?tags__any=x",
		"alertActions", "alertActionRules?pageSize=1000&enabled=true&ruleId__in=x",
		"eventAlertConditionRules?enabled=true&id__in=x",
		"availableDevices?deviceType__in=camera&state__in=addable", "devices/bridge-a/io/ports",
		"cameras/cam-a/io/ports?include=status", "devices/cam-a/io/ports"} {
		code, body := c.api(token, "GET", "/api/v3.0/"+path, "")
		require.Equal(t, 200, code, body)
		require.JSONEq(t, `{"results":[],"nextPageToken":"","prevPageToken":"","totalSize":0}`, body)
		name, _, _ := strings.Cut(path, "?")
		code, body = c.api(token, "GET", "/api/v3.0/"+name+"?zebra=1", "")
		require.Equal(t, 400, code)
		require.Contains(t, body, "known here: ")
		if code, body = c.api(token, "GET", "/api/v3.0/"+name+"/one", ""); !strings.Contains(name, "/") {
			require.Contains(t, body, `"resource":"`+name+`","ids":["one"]`, "there is none, and the path is known")
		}
		require.Equal(t, 404, code)
	}
	code, _ = c.api(token, "POST", "/api/v3.0/roles", `{"name":"x"}`)
	require.Equal(t, 405, code, "no roles are made here")
	// What uplink/README.md says that nobody serves is not there, rather than half there.
	for _, path := range []string{"timeZones", "ssoAuthSettings", "bridges/bridge-a/settings", "exports", "editions",
		"resourceGrants", "auditLogs", "vehicleLists", "videoSearch"} {
		code, body := c.api(token, "GET", "/api/v3.0/"+path, "")
		require.Equal(t, 404, code, path)
		require.Contains(t, body, "endpointNotFound", path)
	}
	code, body = c.api(token, "GET", "/api/v3.0/languages?pageSize=1", "")
	require.Equal(t, 200, code, body)
	require.Contains(t, body, `"results":[{"tag":"en","name":"English"}]`)
}
