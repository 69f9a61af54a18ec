//! The attacks. A new one is a file here and a line below; then `tests/hostile/table/` wants
//! to know what must come of it.

use crate::attack::{Attack, RiskClass};

macro_rules! attacks {
    ($($declares:expr => $($name:ident)+;)+) => {
        $($(mod $name;)+)+

        /// All attacks.
        pub const ATTACKS: &[Attack] = &[
            $($(Attack {
                name: stringify!($name),
                declares: $declares,
                run: $name::attack,
            },)+)+
        ];
    };
}

attacks! {
    Some(RiskClass::Read) => declare_read_and_write;
    Some(RiskClass::Draft) => declare_draft_and_destroy;
    None => act_without_being_listed;
    // Declares all the harm there is, so that nothing is refused for the declaration.
    Some(RiskClass::Destructive) =>
        answer_a_huge_media_type
        answer_more_than_allowed
        answer_what_is_not_text
        ask_for_the_roots_too_often
        be_refused_for_ever
        call_for_ever
        change_in_place
        copy_a_sparse_file
        copy_many_files
        create_at_the_handle_limit
        create_in_a_removed_directory
        create_on_inputs
        delete_from_inputs
        delete_outside
        delete_then_recreate
        destroy_without_an_approver
        fail_a_rename_over_a_staged_file
        fail_with_more_than_allowed
        follow_a_script
        forge_a_dry_run
        forge_a_receipt
        forge_descriptors
        forge_names
        forge_the_hosts_word
        grow_and_shrink
        grow_by_labels
        grow_by_resizing
        grow_memory
        guess_temporary_names
        keep_too_many_errors
        leave_names_that_deceive
        lie_about_the_root
        look_up_for_ever
        loop_for_ever
        make_and_remove_directories_for_ever
        make_devices_of_windows
        make_directories_and_trap
        make_hard_links
        make_symbolic_links
        make_too_many_directories
        mutate_directory_on_inputs
        open_every_way_on_inputs
        open_every_way_on_workspace
        open_special_files
        open_too_many_files
        open_too_many_listings
        open_too_many_streams
        pass_a_huge_path
        pass_what_is_not_text
        point_outside_memory
        poll_a_million
        poll_nothing
        reach_siblings
        reach_through_a_pending_deletion
        reach_through_a_pending_rename
        reach_what_patterns_exclude
        read_a_link_without_leaving_a_trace
        read_at_once
        read_back_through_a_staged_copy
        read_by_splice
        read_in_small_pieces
        read_many_files
        read_the_workspace
        read_through_a_pending_move
        read_through_many_handles
        read_through_streams
        read_where_links_lead
        read_without_leaving_a_trace
        recurse_for_ever
        remove_the_roots
        rename_across_roots
        rename_around_a_staged_file
        rename_into_a_mount
        rename_into_itself
        rename_out
        rename_over
        rename_over_a_hard_link_from_beside
        rename_over_hard_link
        rename_over_what_nobody_has_seen
        save_beside_and_rename_over
        save_twice_from_a_directory_that_goes
        say_deleted
        say_ok_after_a_refusal
        set_times
        skip_and_read
        spell_ever_longer
        spell_in_other_letters
        stage_a_hundred_and_lie
        stage_and_answer_nonsense
        stage_and_fail
        stage_and_take_back_too_many_files
        stage_and_time_out
        stage_and_trap
        stage_too_many_files
        subscribe_too_often
        swap_two_files
        trailing_slash_on_links
        trap
        truncate_with_read_flag
        use_after_drop
        walk_out
        write_after_rename
        write_after_unlink
        write_at_once
        write_at_one_tebibyte
        write_in_small_pieces
        write_many_files
        write_through_hard_link
        write_through_links
        write_through_read_descriptor
        write_through_streams
        write_zeroes
        write_zeroes_in_small_pieces;
}
