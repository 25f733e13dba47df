"""The words that a line of mosquitto.conf may begin with; mosquitto does not start with any other."""

from __future__ import annotations

from difflib import get_close_matches

from topicloom.mesh.model.config_files import ALIKE, Location

WORDS = frozenset(
    """
    accept_protocol_versions acl_file address addresses allow_anonymous allow_duplicate_messages
    allow_zero_length_clientid auth_plugin auth_plugin_deny_special_chars auto_id_prefix autosave_interval
    autosave_on_changes bind_address bind_interface bridge_alpn bridge_attempt_unsubscribe
    bridge_bind_address bridge_cafile bridge_capath bridge_certfile bridge_ciphers bridge_ciphers_tls1.3
    bridge_identity bridge_insecure bridge_keyfile bridge_max_packet_size bridge_max_topic_alias
    bridge_outgoing_retain bridge_protocol_version bridge_psk bridge_receive_maximum bridge_reload_type
    bridge_require_ocsp bridge_session_expiry_interval bridge_tcp_keepalive bridge_tcp_user_timeout
    bridge_tls_use_os_certs bridge_tls_version cafile capath certfile check_retain_source ciphers
    ciphers_tls1.3 cleansession clientid clientid_prefixes connection connection_messages crlfile
    dhparamfile disable_client_cert_date_checks enable_control_api enable_proxy_protocol global_max_clients
    global_max_connections global_plugin http_dir idle_timeout include_dir keepalive_interval keyfile
    listener listener_allow_anonymous listener_auto_id_prefix local_cleansession local_clientid
    local_password local_username log_dest log_facility log_timestamp log_timestamp_format log_type
    max_connections max_inflight_bytes max_inflight_messages max_keepalive max_packet_size max_qos
    max_queued_bytes max_queued_messages max_topic_alias max_topic_alias_broker maximum_qos memory_limit
    message_size_limit mount_point notification_topic notifications notifications_local_only
    packet_buffer_size password password_file per_listener_settings persistence persistence_file
    persistence_location persistent_client_expiration pid_file plugin plugin_load plugin_use port protocol
    proxy_protocol_v2_require_tls psk_file psk_hint queue_qos0_messages remote_clientid remote_password
    remote_username require_certificate restart_timeout retain_available retain_expiry_interval
    retained_persistence retry_interval round_robin set_tcp_nodelay socket_domain start_type
    store_clean_interval sys_interval threshold tls_engine tls_engine_kpass_sha1 tls_keyform tls_version
    topic trace_level try_private upgrade_outgoing_qos use_identity_as_username use_subject_as_username
    use_username_as_clientid user username websockets_headers_size websockets_log_level websockets_origin
    """.split()  # noqa: SIM905
)
"""Of mosquitto 1.5 to 2.1: a file for any of them is read."""

PREFIXES = ("auth_opt_", "plugin_opt_")
"""Behind these stands what plugins know."""


def refuse_unknown(word: str, where: Location) -> None:
    """Refuse a line that mosquitto would not start with: a link that is not read would look like none."""
    if word in WORDS or word.startswith(PREFIXES):
        return
    meant = get_close_matches(word, sorted(WORDS), 1, ALIKE)
    hint = f"write {meant[0]} if you mean that" if meant else "mosquitto would not start with it; remove it"
    raise where.fault(f"there is no option {word}; {hint}")
