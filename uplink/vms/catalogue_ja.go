package vms

// TypesIn lists the catalogue as Types does, with names and descriptions in a language: "ja", else
// English. lang is the one that it is.
func TypesIn(wanted string) (types []EventType, lang string) {
	if wanted != Japanese {
		return catalogue, English
	}
	return japanese, Japanese
}

// The languages of the catalogue.
const (
	English  = "en"
	Japanese = "ja"
)

var japanese = makeJapanese()

func makeJapanese() []EventType {
	all := make([]EventType, len(catalogue))
	for i, t := range catalogue {
		if words, ok := japaneseWords[t.Type[len("vms."):len(t.Type)-len("Event.v1")]]; ok {
			t.Name, t.Description = words[0], words[1]
		}
		all[i] = t
	}
	return all
}

// japaneseWords are the name and the description of each type, by its id without "vms." and
// "Event.v1".
var japaneseWords = map[string][2]string{
	"deviceCloudStatusUpdate": {"デバイスの状態", "デバイスの接続状態が変わりました。その状態が続く間のイベントです。"},
	"motionDetection":         {"モーション検知", "カメラの前で何かが動きました。動きが続く間のイベントです。"},
	"motionInRegionDetection": {"領域内モーション検知", "設定した領域の中で何かが動きました。動きが続く間のイベントです。"},
	"lprPlateRead":            {"ナンバープレート認識", "通過した車両のナンバープレートを読み取りました。"},
	"loiterDetection":         {"滞留検知", "物体が設定時間より長くエリアにとどまりました。"},
	"tamperDetection":         {"カメラ妨害", "カメラの視界がふさがれたか、向きや映像が大きく変わりました。"},
	"objectLineCross":         {"ライン通過検知", "物体が設定したラインを横切りました。"},
	"objectIntrusion":         {"侵入検知", "物体が監視エリアまたは立入禁止エリアに入りました。"},
	"accessActivation":        {"アクセス許可", "資格情報またはユーザーにアクセスが許可されました。"},
	"accountCreation":         {"アカウント作成", "アカウントが作成されました。"},
	"accountDeletion":         {"アカウント削除", "アカウントが削除されました。"},
	"accountUpdate":           {"アカウント更新", "アカウントの設定が変更されました。"},
	"animalDetection":         {"動物検知", "映像の中で動物が動いています。いなくなるまでのイベントです。"},
	"batteryLevelUpdate":      {"バッテリー残量", "デバイスのバッテリーが低下したか、正常に戻りました。"},
	"countedObjectLineCross":  {"ライン通過数", "一定時間に各方向へラインを横切った物体の数です。"},
	"crowdFormationDetection": {"人だかり検知", "複数の人が集まりました。"},
	"deviceCloudConnectionStatusUpdate": {"クラウド接続状態",
		"デバイスとサービスの接続が確立したか、切れました。"},
	"deviceCreation":           {"デバイス追加", "デバイスが追加されました。"},
	"deviceDeletion":           {"デバイス削除", "デバイスが削除されました。"},
	"deviceIO":                 {"デバイス入出力", "デバイスの入力または出力が作動しています。待機に戻ると終わります。"},
	"deviceOperation":          {"デバイス操作", "ファームウェア更新、機器交換、初期化など、デバイスに重要な操作が行われました。"},
	"deviceUpdate":             {"デバイス更新", "デバイスの設定が変更されました。"},
	"doorStatus":               {"ドアの状態", "ドアが開いたか、閉まりました。"},
	"edgeReportedDeviceStatus": {"デバイスの自己報告", "デバイスが自分の状態またはエラーを報告しました。"},
	"eevaQuery":                {"VLM クエリ", "ユーザーが映像について設定した質問に、待っていた答えが得られました。"},
	"evacuateProtocol":         {"避難指示", "建物またはその一部からの避難が指示されました。"},
	"faceDetection":            {"顔検知", "映像の中に顔があります。"},
	"fallDetection":            {"転倒検知", "人が倒れました。"},
	"fightDetection":           {"けんか検知", "設定時間より長く人が争っています。"},
	"fireDetection":            {"火災検知", "映像の中に火が見えます。"},
	"fleetCodeRecognition":     {"車両番号認識", "通過した車両の車両管理番号を読み取りました。"},
	"gunDetection":             {"銃検知", "映像の中に銃があります。"},
	"gunShotAudioDetection":    {"銃声検知", "銃声が聞こえました。"},
	"handsUpDetection":         {"挙手検知", "人が両手を上げています。"},
	"holdProtocol":             {"待機指示", "部屋にとどまり、廊下を空けるよう指示されました。"},
	"jobCreation":              {"ジョブ作成", "ジョブが開始されました。"},
	"jobDeletion":              {"ジョブ削除", "ジョブが削除されました。"},
	"jobUpdate":                {"ジョブ更新", "ジョブの状態が変わりました。"},
	"layoutCreation":           {"レイアウト作成", "レイアウトが作成されました。"},
	"layoutDeletion":           {"レイアウト削除", "レイアウトが削除されました。"},
	"layoutUpdate":             {"レイアウト更新", "レイアウトが変更されました。"},
	"lockdownProtocol":         {"ロックダウン指示", "ドアを施錠して隠れるよう指示されました。"},
	"measurementThresholdStatus": {"測定値のしきい値",
		"測定値がしきい値を超えたか、範囲内に戻りました。"},
	"objectLineCrossCount":         {"ライン通過カウント", "ラインを横切った物体が数えられました。"},
	"objectRemoval":                {"持ち去り検知", "物体が元の場所からなくなりました。枠はその場所、時刻は気づいた時です。"},
	"panicButton":                  {"非常ボタン", "ユーザーが非常ボタンを押しました。"},
	"personDetection":              {"人物検知", "映像の中で人が動いています。いなくなるまでのイベントです。"},
	"personMotionDetection":        {"人物モーション検知", "人による動きです。動きが続く間のイベントです。"},
	"personTailgate":               {"共連れ検知", "許可のない人が、許可された人に続いてドアを通りました。"},
	"posTransaction":               {"POS 取引", "レジでの販売などの取引です。最初の明細から終わりまで続きます。"},
	"ppeViolation":                 {"保護具の未着用", "必要な保護具を着けていない人がいます。"},
	"ptzPositionUpdate":            {"PTZ 位置変更", "カメラの向きまたはズームが変わりました。"},
	"sceneLabel":                   {"シーンラベル", "映像に写っているものを示します。物体ごとにラベルがあります。"},
	"secureProtocol":               {"施錠指示", "屋内に入り、外側のドアを施錠するよう指示されました。"},
	"shelterProtocol":              {"退避指示", "安全な場所への退避が指示されました。"},
	"spillDetection":               {"液体こぼれ検知", "床に液体があり、滑るおそれがあります。"},
	"t3AlarmAudioDetection":        {"T3 警報音検知", "避難を促す 3 回パターンの警報音が聞こえました。"},
	"t4AlarmAudioDetection":        {"T4 警報音検知", "一酸化炭素を知らせる 4 回パターンの警報音が聞こえました。"},
	"thermalCameraThresholdStatus": {"サーマルカメラのしきい値", "監視エリアの温度が設定した限度を超えました。"},
	"userCreation":                 {"ユーザー作成", "ユーザーが作成されました。"},
	"userDeletion":                 {"ユーザー削除", "ユーザーが削除されました。"},
	"userUpdate":                   {"ユーザー更新", "ユーザーの設定が変更されました。"},
	"vapeDetection":                {"電子たばこ検知", "センサーが電子たばこの蒸気を検知しました。"},
	"vehicleDetection":             {"車両検知", "映像の中で車両が動いています。いなくなるまでのイベントです。"},
	"vehicleMotionDetection":       {"車両モーション検知", "車両による動きです。動きが続く間のイベントです。"},
	"violenceDetection":            {"暴力検知", "暴力行為がありました。"},
	"weaponDetection":              {"武器検知", "映像の中に武器があります。"},
}
